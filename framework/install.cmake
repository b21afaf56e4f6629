# SPDX-License-Identifier: Apache-2.0
#
# What a vendor's own tree needs: the core, its public headers, and a package
# that find_package(Assay) finds wherever the installed tree was moved to.
#
#   cmake --install build --component development --prefix /opt/assay

include(CMakePackageConfigHelpers)
set(assay_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Assay)
set(assay_header_dir ${CMAKE_INSTALL_INCLUDEDIR}/assay/framework)

install(TARGETS assay_core EXPORT AssayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT AssayTargets NAMESPACE Assay::
        DESTINATION ${assay_package_dir} COMPONENT development)

install(FILES core/dtype.h core/shape.h core/status.h core/tensor.h core/text.h
              core/value.h core/value_walk.h
        DESTINATION ${assay_header_dir}/core COMPONENT development)
install(FILES graph/model.h graph/operator.h
        DESTINATION ${assay_header_dir}/graph COMPONENT development)
set(assay_made ${PROJECT_BINARY_DIR}/generated/framework/graph/generated)
install(FILES ${assay_made}/operators.h ${assay_made}/visitor.h
        DESTINATION ${assay_header_dir}/graph/generated COMPONENT development)
install(FILES backend/backend.h backend/exact.h backend/executor.h
              backend/forwarding_network.h backend/network_interfaces.h
              backend/registry.h
        DESTINATION ${assay_header_dir}/backend COMPONENT development)
install(FILES backend/eager/eager.h backend/eager/kernel.h
              backend/eager/operator_visitor.h
        DESTINATION ${assay_header_dir}/backend/eager COMPONENT development)

install(FILES backend/identity/build_facts.h backend/identity/module_note.h
        DESTINATION ${assay_header_dir}/backend/identity COMPONENT development)

install(FILES kernels/axis.h kernels/broadcast.h kernels/reshape.h
              kernels/slice.h kernels/window.h
        DESTINATION ${assay_header_dir}/kernels COMPONENT development)

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
              ${PROJECT_SOURCE_DIR}/ctest/cmake/AssayHeaders.cmake
        DESTINATION ${assay_package_dir} COMPONENT development)

if(ASSAY_BUILD_TESTS)
  add_test(NAME install/example_plugin
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

# The reporting package, which assay finds below its own prefix.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reports/assay_report
        DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/reports
        PATTERN __pycache__ EXCLUDE)
