# SPDX-License-Identifier: Apache-2.0
#
# The installed tree: programs, modules, corpora, the kill table, the report
# package, documents and examples, and what a vendor's own tree needs, a package
# that find_package(Assay) finds. Everything is found relative to the programs or
# to the package, so the tree works wherever it was moved to.
#
#   cmake --install build --prefix /opt/assay
#   cmake --install build --component development --prefix /opt/assay
#
# The second installs the core, the headers and the package alone.

include(CMakePackageConfigHelpers)
set(assay_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Assay)
set(assay_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/assay)
set(assay_header_dir ${assay_include_dir}/framework)
set(assay_data_dir ${CMAKE_INSTALL_DATADIR}/assay)
set(assay_doc_dir ${CMAKE_INSTALL_DATADIR}/doc/assay)

# --- programs ----------------------------------------------------------------

# They search beside themselves, in the build as well: so the installed files are
# those of the build, and what was found out about them is about these.
foreach(program IN LISTS ASSAY_PROGRAMS)
  set_target_properties(${program} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/../lib/assay/bundled")
endforeach()
install(TARGETS ${ASSAY_PROGRAMS} EXPORT AssayPrograms)
install(EXPORT AssayPrograms NAMESPACE Assay:: DESTINATION ${assay_package_dir})
add_executable(Assay::assay ALIAS assay)

# --- what a vendor's tree needs ----------------------------------------------

install(TARGETS assay_core EXPORT AssayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT AssayTargets NAMESPACE Assay::
        DESTINATION ${assay_package_dir} COMPONENT development)

# A vendor's source includes <assay/...>, and these the others.
set(assay_vendor_headers
  include/assay/backend.h include/assay/communicator.h include/assay/kernels.h)
install(FILES ${assay_vendor_headers}
        DESTINATION ${assay_include_dir}/assay COMPONENT development)
set(assay_headers
  core/dtype.h core/inline_vector.h core/shape.h core/status.h core/tensor.h
  core/text.h core/value.h core/value_walk.h graph/model.h graph/operator.h
  backend/backend.h backend/exact.h backend/executor.h backend/communicator.h
  backend/forwarding_network.h backend/function_network.h
  backend/network_interfaces.h backend/registry.h backend/eager/eager.h
  backend/eager/kernel.h backend/eager/operator_visitor.h
  backend/identity/build_facts.h backend/identity/module_note.h
  backend/identity/probe.h kernels/axis.h kernels/broadcast.h kernels/reshape.h
  kernels/slice.h kernels/window.h)
foreach(header IN LISTS assay_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${assay_header_dir}/${folder}
          COMPONENT development)
endforeach()
set(assay_made ${PROJECT_BINARY_DIR}/generated/framework/graph/generated)
install(FILES ${assay_made}/operators.h ${assay_made}/visitor.h
        DESTINATION ${assay_header_dir}/graph/generated COMPONENT development)

configure_package_config_file(
  ${CMAKE_CURRENT_SOURCE_DIR}/AssayConfig.cmake.in AssayConfig.cmake
  INSTALL_DESTINATION ${assay_package_dir})
# Before 1.0 a minor version may change what modules are built against.
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/AssayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/AssayConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/AssayConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/ctest/cmake/AssayBackend.cmake
              ${PROJECT_SOURCE_DIR}/ctest/cmake/AssayConformance.cmake
              ${PROJECT_SOURCE_DIR}/ctest/cmake/AssayHeaders.cmake
        DESTINATION ${assay_package_dir} COMPONENT development)

if(ASSAY_BUILD_TESTS)
  assay_test(install/example_plugin
    READS ../framework/**/*.h ../conformance/contract/*.h
          ../backends/example_plugin/**/*.cc
    COMMAND ${CMAKE_COMMAND}
      -D BUILD=${PROJECT_BINARY_DIR}
      -D EXAMPLE=${PROJECT_SOURCE_DIR}/backends/example_plugin
      -D WORK=${CMAKE_CURRENT_BINARY_DIR}/install_test
      -D GENERATOR=${CMAKE_GENERATOR}
      -D COMPILER=${CMAKE_CXX_COMPILER}
      -D SANITIZE=${ASSAY_SANITIZE}
      -P ${PROJECT_SOURCE_DIR}/backends/example_plugin/install_test.cmake)
  set_tests_properties(install/example_plugin PROPERTIES
    LABELS "tier=ci;suite=install" TIMEOUT 300)
endif()

# --- what the programs read --------------------------------------------------

# Tens of thousands of small files: cp takes a tenth of the time of install().
install(CODE "
  set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${assay_data_dir}/corpus\")
  file(MAKE_DIRECTORY \"\${to}\")
  execute_process(COMMAND cp -R --preserve=mode,timestamps
                          \"${ASSAY_CORPUS_DIR}/.\" \"\${to}\"
                  COMMAND_ERROR_IS_FATAL ANY)")
# The mutants that the suites of this build were seen to kill.
install(FILES ${PROJECT_BINARY_DIR}/share/assay/mutants.csv
              ${PROJECT_SOURCE_DIR}/ctest/trial/nightly.txt OPTIONAL
        DESTINATION ${assay_data_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reports/assay_report
        DESTINATION ${assay_data_dir}/reports
        PATTERN __pycache__ EXCLUDE)

# --- what people read --------------------------------------------------------

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${assay_doc_dir})
install(FILES ${PROJECT_SOURCE_DIR}/backends/README.md
        DESTINATION ${assay_doc_dir}/backends)
install(FILES ${PROJECT_SOURCE_DIR}/reports/page.png
              ${PROJECT_SOURCE_DIR}/reports/gradients.png
              ${PROJECT_SOURCE_DIR}/reports/training.png
        DESTINATION ${assay_doc_dir}/reports)
install(DIRECTORY decisions DESTINATION ${assay_doc_dir}/framework)
install(FILES MAP.md DESTINATION ${assay_doc_dir}/framework)
foreach(example example_plugin example_whole_model example_onnxruntime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/backends/${example}
          DESTINATION ${assay_data_dir}/examples
          PATTERN install_test* EXCLUDE)
endforeach()
