# SPDX-License-Identifier: Apache-2.0
#
# assay_add_mpi_rank(NAME SOURCES FILE... LIBRARIES LIBRARY...)
#
# The static library assay_NAME_ranks: a rank of the MPI whose mpi.h LIBRARIES bring, and
# the module's own SOURCES. It is an archive whose symbols whoever links it keeps to itself:
# a module or a test calls the functions of MPI that are counted (profile.h) and no others,
# whatever the process has loaded, and MPI does not call them.

set(assay_mpi_rank_folder ${CMAKE_CURRENT_LIST_DIR})
function(assay_add_mpi_rank name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(sources endpoint.cc profile.cc)
  list(TRANSFORM sources PREPEND ${assay_mpi_rank_folder}/)
  add_library(assay_${name}_ranks STATIC ${sources} ${arg_SOURCES})
  target_link_libraries(assay_${name}_ranks
    PUBLIC Assay::core ${arg_LIBRARIES} PRIVATE assay_options)
  set_target_properties(assay_${name}_ranks PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(assay_${name}_ranks INTERFACE
    -Wl,--exclude-libs,$<TARGET_FILE_NAME:assay_${name}_ranks>)
endfunction()
