# SPDX-License-Identifier: Apache-2.0
#
# assay_add_mpi_process(NAME [SOURCES FILE...] LIBRARIES LIBRARY...)
#
# The static library assay_NAME_ranks: ranks that are processes of the MPI whose mpi.h
# LIBRARIES bring, and the module's own SOURCES.

include(${CMAKE_CURRENT_LIST_DIR}/../mpi_rank/mpi_rank.cmake)
set(assay_mpi_process_folder ${CMAKE_CURRENT_LIST_DIR})
function(assay_add_mpi_process name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(sources patience.cc processes.cc world.cc)
  list(TRANSFORM sources PREPEND ${assay_mpi_process_folder}/)
  assay_add_mpi_rank(${name}
    SOURCES ${sources} ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
endfunction()
