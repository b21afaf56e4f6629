# SPDX-License-Identifier: Apache-2.0
#
# Compiles the headers of the C++ library, and for tests those of GoogleTest,
# once for many sources: a test then costs half. A source includes what it uses
# all the same: clang-tidy and the rules read it without this.
#
#   assay_precompile(assay_train)      # for the sources of a library
#   assay_precompile(assay_core OWN)   # of one with compile options of its own
#   assay_precompile(assay_cli COLD)   # of one that no case waits for: -O1
#   assay_cheap_to_build(core_test)    # for what tests, and is not measured
#   assay_cheap_to_build(mutant WITHOUT_TESTS)  # and has no test among its sources

set(ASSAY_PRECOMPILED <algorithm> <array> <cmath> <cstdint> <cstring>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <optional> <set>
  <span> <sstream> <string> <string_view> <utility> <vector>)

# The target NAME of options, made where it is not there, from which others take
# their precompiled header: assay_headers(NAME OPTIONS... [HEADERS HEADER...])
function(assay_headers name)
  if(TARGET ${name})
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE assay_options)
  target_compile_options(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name}
    PRIVATE ${ASSAY_PRECOMPILED} ${arg_HEADERS})
endfunction()

set(ASSAY_COLD $<$<CONFIG:Release,RelWithDebInfo>:-O1>)

function(assay_precompile target)
  if("OWN" IN_LIST ARGN)
    target_precompile_headers(${target} PRIVATE ${ASSAY_PRECOMPILED})
  elseif("COLD" IN_LIST ARGN)
    assay_headers(assay_cold_headers ${ASSAY_COLD})
    target_precompile_headers(${target} REUSE_FROM assay_cold_headers)
  else()
    assay_headers(assay_library_headers)
    target_precompile_headers(${target} REUSE_FROM assay_library_headers)
  endif()
  if("COLD" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE ${ASSAY_COLD})
  endif()
  # GCC 12 warns of lengths in the library's own headers where they are precompiled.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

# assay_library(NAME [COLD] SOURCES FILE... [PUBLIC LIBRARY...] [PRIVATE LIBRARY...])
#
# The static library assay_NAME, Assay::NAME for others, precompiled as above.
function(assay_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;PUBLIC;PRIVATE")
  add_library(assay_${name} STATIC ${arg_SOURCES})
  add_library(Assay::${name} ALIAS assay_${name})
  target_link_libraries(assay_${name}
    PUBLIC ${arg_PUBLIC} PRIVATE assay_options ${arg_PRIVATE})
  if(arg_COLD)
    assay_precompile(assay_${name} COLD)
  else()
    assay_precompile(assay_${name})
  endif()
endfunction()

# An executable that is not optimised, takes the precompiled header of all
# tests, and is linked by gold where it is here, in a third of the time. A
# target without a test among its own sources goes without GoogleTest's header:
# reading a precompiled header takes time by its size.
find_program(ASSAY_GOLD ld.gold)
mark_as_advanced(ASSAY_GOLD)
function(assay_cheap_to_build target)
  find_package(GTest REQUIRED)
  if("WITHOUT_TESTS" IN_LIST ARGN)
    set(headers assay_plain_headers)
    assay_headers(${headers} -O0 -fPIE)
  else()
    set(headers assay_test_headers)
    assay_headers(${headers} -O0 -fPIE HEADERS <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(${headers} PRIVATE GTest::gmock)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE -O0)
  if(ASSAY_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

# The compiler cache takes what uses a precompiled header only where it may trust
# macros of the command line and of the time: no source has __DATE__ or __TIME__.
if(ASSAY_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${ASSAY_CCACHE})
endif()
