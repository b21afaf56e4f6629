# SPDX-License-Identifier: Apache-2.0
#
# Read by CPack for each kind of package: what the archive brings along, and where
# the Debian package installs to and what it depends on.

if(NOT CPACK_GENERATOR STREQUAL DEB)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS
       ${CPACK_ASSAY_BUILD} Assay bundle /)
  return()
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/assay)

# CPack would do the same by itself, and start a process for each file of each
# corpus to find out that it is no library.
set(lib ${CPACK_ASSAY_BUILD}/lib)
file(GLOB files ${lib}/libassay_core.so ${lib}/assay/*.so ${lib}/assay/*/*.so*)
foreach(program IN LISTS CPACK_ASSAY_PROGRAMS)
  list(APPEND files ${CPACK_ASSAY_BUILD}/bin/${program})
endforeach()
set(folder ${CPACK_ASSAY_BUILD}/package_depends)
file(WRITE ${folder}/debian/control "Source: assay\n\nPackage: assay\nArchitecture: any\n")
list(TRANSFORM files PREPEND -e)
execute_process(
  COMMAND dpkg-shlibdeps -O -l${lib} -l${lib}/assay/onednn -xassay
          --ignore-missing-info ${files}
  WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE depends
  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^shlibs:Depends=|\n" "" CPACK_DEBIAN_PACKAGE_DEPENDS
       "${depends}")
