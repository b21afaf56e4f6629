# SPDX-License-Identifier: Apache-2.0
#
# assay_add_mpi_process(NAME LIBRARIES LIBRARY...)
#
# The static library assay_NAME_ranks: ranks that are processes of the MPI whose mpi.h
# LIBRARIES bring.

include(${CMAKE_CURRENT_LIST_DIR}/../mpi_rank/mpi_rank.cmake)
set(assay_mpi_process_folder ${CMAKE_CURRENT_LIST_DIR})
function(assay_add_mpi_process name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  assay_add_mpi_rank(${name}
    SOURCES ${assay_mpi_process_folder}/processes.cc LIBRARIES ${arg_LIBRARIES})
endfunction()

# assay_mpi_process_test(NAME LAUNCHER WORD... [ENVIRONMENT NAME=VALUE...])
#
# unit/NAME: the tests of mpi_process on two ranks of that MPI, which the words start.
function(assay_mpi_process_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LAUNCHER;ENVIRONMENT")
  list(POP_FRONT arg_LAUNCHER program)
  find_program(ASSAY_LAUNCHER_OF_${name} ${program})
  mark_as_advanced(ASSAY_LAUNCHER_OF_${name})
  if(ASSAY_SANITIZE OR NOT ASSAY_BUILD_TESTS OR NOT ASSAY_LAUNCHER_OF_${name})
    return()  # what an MPI keeps to its end is not to be judged
  endif()
  assay_unit_test(${name} ALONE
    LAUNCHER ${ASSAY_LAUNCHER_OF_${name}} ${arg_LAUNCHER}
    SOURCES ${assay_mpi_process_folder}/processes_test.cc
    LIBRARIES assay_${name}_ranks)
  set_tests_properties(unit/${name} PROPERTIES
    PROCESSORS 2 TIMEOUT 60 ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
