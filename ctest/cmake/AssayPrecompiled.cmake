# SPDX-License-Identifier: Apache-2.0
#
# Compiles the headers of the C++ library, and for tests those of GoogleTest,
# once for many sources: a test then costs half. A source includes what it uses
# all the same: clang-tidy and the rules read it without this.
#
#   assay_precompile(assay_core)       # for the sources of a large library
#   assay_precompile(assay_cli COLD)   # of one that no case waits for: -O1
#   assay_cheap_to_build(core_test)    # for what tests, and is not measured

set(ASSAY_PRECOMPILED <algorithm> <array> <cmath> <cstdint> <cstring>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <optional> <set>
  <span> <sstream> <string> <string_view> <utility> <vector>)

function(assay_precompile target)
  target_precompile_headers(${target} PRIVATE ${ASSAY_PRECOMPILED})
  if("COLD" IN_LIST ARGN)
    target_compile_options(${target}
      PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  endif()
endfunction()

# An executable that is not optimised, takes the precompiled header of all
# tests, and is linked by gold where it is here, in a third of the time.
find_program(ASSAY_GOLD ld.gold)
mark_as_advanced(ASSAY_GOLD)
function(assay_cheap_to_build target)
  if(NOT TARGET assay_test_headers)
    find_package(GTest REQUIRED)
    set(source ${PROJECT_BINARY_DIR}/generated/test_headers.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(assay_test_headers OBJECT ${source})
    target_link_libraries(assay_test_headers
      PRIVATE assay_options GTest::gmock)
    target_compile_options(assay_test_headers PRIVATE -O0 -fPIE)
    target_precompile_headers(assay_test_headers
      PRIVATE ${ASSAY_PRECOMPILED} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM assay_test_headers)
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
