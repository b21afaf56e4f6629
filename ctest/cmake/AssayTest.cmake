# SPDX-License-Identifier: Apache-2.0
#
# assay_unit_test(NAME SOURCES FILE... [LIBRARIES TARGET...] [LABELS LABEL...]
#                 [COST SECONDS])
#
# One GoogleTest program NAME_test, one CTest entry unit/NAME of tier ci. Its
# own sources are not optimised, which halves the time to compile them; what they
# test is. COST, about the seconds that a long one takes, makes ctest -j start it
# early on a machine that has not run it yet.
#
#   assay_unit_test(core SOURCES shape_test.cc LIBRARIES Assay::core)

function(assay_unit_test name)
  if(NOT ASSAY_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COST" "SOURCES;LIBRARIES;LABELS")
  find_package(GTest REQUIRED)
  string(REPLACE "/" "_" target ${name}_test)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    assay_options ${arg_LIBRARIES} GTest::gmock_main)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME unit/${name} COMMAND ${target})
  set_tests_properties(unit/${name} PROPERTIES
    LABELS "tier=ci;suite=unit;${arg_LABELS}" TIMEOUT 300)
  if(arg_COST)
    set_tests_properties(unit/${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
