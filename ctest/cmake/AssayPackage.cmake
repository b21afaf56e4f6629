# SPDX-License-Identifier: Apache-2.0
#
# The installed tree as one archive and one Debian package:
#
#   cpack --config build/CPackConfig.cmake -G "TGZ;DEB" -B build/package
#
# The archive needs the C and the C++ library of Debian 12 and nothing else: the
# other shared libraries travel in lib/assay/bundled. The Debian package depends
# on theirs.

# Modules find what lies beside them, in the build as well: answers that were
# computed by the build's reference are good for the installed one.
get_property(modules GLOBAL PROPERTY ASSAY_BACKENDS)
list(TRANSFORM modules PREPEND assay_backend_)
set_target_properties(${modules} PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH OFF
  INSTALL_RPATH "$ORIGIN/..;$ORIGIN/bundled")
if(TARGET assay_image_codecs)
  list(APPEND modules assay_image_codecs)
endif()
# No Debian package has this release of oneDNN.
set(assay_onednn_dir ${CMAKE_INSTALL_LIBDIR}/assay/onednn)
if(TARGET assay_backend_onednn)
  set_property(TARGET assay_backend_onednn
               APPEND PROPERTY INSTALL_RPATH "$ORIGIN/onednn")
  get_target_property(dnnl AssayDeps::dnnl IMPORTED_LOCATION)
  file(REAL_PATH ${dnnl} dnnl)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${assay_onednn_dir})
  file(CREATE_LINK ${dnnl} ${PROJECT_BINARY_DIR}/${assay_onednn_dir}/libdnnl.so.3
       SYMBOLIC)
  install(FILES ${dnnl} DESTINATION ${assay_onednn_dir} RENAME libdnnl.so.3)
endif()

# --- what the archive brings along -------------------------------------------

list(TRANSFORM ASSAY_PROGRAMS REPLACE "(.+)" "$<TARGET_FILE:\\1>"
     OUTPUT_VARIABLE programs)
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_FILE:\\1>")
install(CODE "
  set(programs \"${programs}\")
  set(modules \"${modules}\")
  set(bundled \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/assay/bundled\")
  set(licences \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/assay/bundled\")
" COMPONENT bundle EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/bundle.cmake
        COMPONENT bundle EXCLUDE_FROM_ALL)

# --- CPack -------------------------------------------------------------------

set(CPACK_PACKAGE_NAME assay)
set(ASSAY_ARCHIVE assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${ASSAY_ARCHIVE})
set(CPACK_PACKAGE_VENDOR "The Assay authors")
set(CPACK_PACKAGE_CONTACT "The Assay authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
# The kill table is of the files as they were built.
set(CPACK_STRIP_FILES OFF)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.11), python3-jinja2")
# Figures of times, which a page leaves out without it.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-matplotlib")
# The settings that differ between the two stand in cpack.cmake, which reads the
# others.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/cpack.cmake)
set(CPACK_ASSAY_BUILD ${PROJECT_BINARY_DIR})
set(CPACK_ASSAY_PROGRAMS ${ASSAY_PROGRAMS})
include(CPack)
