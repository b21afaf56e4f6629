# SPDX-License-Identifier: Apache-2.0
#
# assay_test(NAME [ALONE] [READS GLOB...] COMMAND WORD...)
#
# A test that ctest/check.sh need not run again while nothing that it reads has
# changed (ctest/unchanged.py): its program and the files of the source tree,
# every program and module of the build and the corpora unless it is ALONE, and
# what the globs name below the build.

# The interpreter itself, where there is a virtual environment: a python3 that a
# version manager puts first takes 0.1 s of a processor more, for every test.
set(assay_python python3)
if(EXISTS "${ASSAY_PYTHON}")
  set(assay_python ${ASSAY_PYTHON})
endif()

function(assay_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "" "READS;COMMAND")
  if(NOT arg_ALONE)
    list(APPEND arg_READS bin/* lib/assay/**/* tests/hostile/*
         corpus/*.digest corpus/*/manifest.json)
  endif()
  list(TRANSFORM arg_READS PREPEND --reads=)
  add_test(NAME ${name}
    COMMAND ${assay_python} -B ${PROJECT_SOURCE_DIR}/ctest/unchanged.py ${name}
            ${PROJECT_BINARY_DIR} ${arg_READS} -- ${arg_COMMAND})
endfunction()

# assay_unit_test(NAME [ALONE] [READS GLOB...] SOURCES FILE...
#                 [LIBRARIES TARGET...] [MODULES BACKEND...] [CORPUS]
#                 [DEFINITIONS NAME=VALUE...] [DEPENDS TARGET...]
#                 [ENVIRONMENT NAME=VALUE] [LABELS LABEL...] [COST SECONDS]
#                 [LAUNCHER WORD...])
#
# One GoogleTest program NAME_test, one CTest entry unit/NAME of tier ci. Its
# own sources are not optimised; what they test is. ALONE and READS as above. COST,
# about the seconds that a long one takes, makes ctest -j start it early on a
# machine that has not run it yet. LAUNCHER stands before the program, which it starts.
# The module of each of MODULES is built first, and ASSAY_NAME_MODULE is its file.
# With CORPUS the corpus onnx is there first, and ASSAY_CORPUS is its folder.
# DEFINITIONS are the compiler's, and the targets of DEPENDS are built first.
#
#   assay_unit_test(core SOURCES shape_test.cc LIBRARIES Assay::core)

function(assay_unit_test name)
  if(NOT ASSAY_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;CORPUS" "COST"
    "READS;SOURCES;LIBRARIES;MODULES;DEFINITIONS;DEPENDS;ENVIRONMENT;LABELS;LAUNCHER")
  find_package(GTest REQUIRED)
  string(REPLACE "/" "_" target ${name}_test)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    assay_options ${arg_LIBRARIES} GTest::gmock_main)
  assay_cheap_to_build(${target})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  foreach(module IN LISTS arg_MODULES)
    string(TOUPPER ${module} upper)
    list(APPEND arg_DEFINITIONS
         ASSAY_${upper}_MODULE="$<TARGET_FILE:assay_backend_${module}>")
    list(APPEND arg_DEPENDS assay_backend_${module})
  endforeach()
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  set(alone "")
  if(arg_ALONE)
    set(alone ALONE)
  endif()
  assay_test(unit/${name} ${alone} READS ${arg_READS}
    COMMAND ${arg_LAUNCHER} $<TARGET_FILE:${target}>)
  set_tests_properties(unit/${name} PROPERTIES
    LABELS "tier=ci;suite=unit;${arg_LABELS}" TIMEOUT 300)
  if(arg_COST)
    set_tests_properties(unit/${name} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_ENVIRONMENT)
    set_tests_properties(unit/${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  if(arg_CORPUS)
    target_compile_definitions(${target} PRIVATE
      ASSAY_CORPUS="${ASSAY_CORPUS_DIR}/onnx")
    set_property(TEST unit/${name} APPEND PROPERTY LABELS needs=corpus)
    set_tests_properties(unit/${name} PROPERTIES
      FIXTURES_REQUIRED assay_corpus)
  endif()
endfunction()
