# SPDX-License-Identifier: Apache-2.0
#
# The flags that every target of the project is compiled and linked with.
#
#   target_link_libraries(mine PRIVATE assay_options)

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  # Results must not depend on how the compiler fuses operations.
  -ffp-contract=off
  # GCC 12 warns of overlap where a string is added to a literal (bug 105651), and,
  # the more is inlined, of members of a variant that it does not hold (105562).
  -Wno-restrict
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds>
  # The compiler tidies its memory when it has a gigabyte more, not at each 128 MB:
  # a tenth of its time.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>
  # Google's designated initialisers leave out fields that have a default.
  -Wno-missing-field-initializers)

if(ASSAY_SANITIZE)
  # One preset for host and modules alike; function and vptr checks need RTTI
  # across the module boundary, which is hidden on purpose.
  set(assay_sanitize -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer)
  if(ASSAY_SANITIZE MATCHES "undefined")
    list(APPEND assay_sanitize -fno-sanitize=vptr -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      list(APPEND assay_sanitize -fno-sanitize=function)
    endif()
  endif()
  target_compile_options(assay_options INTERFACE ${assay_sanitize})
  target_link_options(assay_options INTERFACE ${assay_sanitize})
endif()

if(ASSAY_FUZZ)
  # Coverage everywhere; libFuzzer itself in its one program.
  target_compile_options(assay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(ASSAY_CCACHE ccache)
mark_as_advanced(ASSAY_CCACHE)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_CCACHE})
endif()
