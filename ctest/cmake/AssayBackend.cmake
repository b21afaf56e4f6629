# SPDX-License-Identifier: Apache-2.0
#
# assay_add_backend(NAME SOURCES FILE... [LIBRARIES TARGET...])
#
# Makes the backend's module lib/assay/NAME.so. The same call works in this
# tree and, after find_package(Assay), in another.
#
#   assay_add_backend(acme SOURCES acme.cc LIBRARIES acme::runtime)
#
# The module exports nothing, keeps its own libraries to itself, and finds them
# by DT_RPATH (libraries that load others of their own need that form).

function(assay_add_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "assay_add_backend(${name}): SOURCES is empty")
  endif()
  add_library(assay_backend_${name} MODULE ${arg_SOURCES})
  target_link_libraries(assay_backend_${name}
    PRIVATE Assay::core ${arg_LIBRARIES})
  if(TARGET assay_options)
    target_link_libraries(assay_backend_${name} PRIVATE assay_options)
  endif()
  set_target_properties(assay_backend_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/assay
    INSTALL_RPATH_USE_LINK_PATH ON
    INSTALL_RPATH "$ORIGIN/..")
  target_link_options(assay_backend_${name} PRIVATE
    -Wl,-z,defs -Wl,-z,nodelete -Wl,--exclude-libs,ALL
    -Wl,--disable-new-dtags)
  set_property(GLOBAL APPEND PROPERTY ASSAY_BACKENDS ${name})

  # NAME.policy beside the module: what is expected of it. In the build tree it
  # is the source folder itself, so that an edit counts at once.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/assay)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}
       ${PROJECT_BINARY_DIR}/lib/assay/${name}.policy SYMBOLIC)
  # Its folder ranks is about ranks that run networks of the backend.
  foreach(file expectations.txt claims.txt passing.txt mutants.txt launch.txt
               ranks/expectations.txt ranks/claims.txt ranks/passing.txt)
    cmake_path(GET file PARENT_PATH folder)
    install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/${file} OPTIONAL
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay/${name}.policy/${folder})
  endforeach()
  install(TARGETS assay_backend_${name}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay)
endfunction()

# assay_write_backend_tags(): the header backend_tags.h with one tag type for
# each backend that assay_add_backend() has made so far in this tree.
function(assay_write_backend_tags)
  get_property(names GLOBAL PROPERTY ASSAY_BACKENDS)
  set(structs "")
  foreach(name IN LISTS names)
    string(APPEND structs
      "struct Tag_${name} {\n"
      "  static std::string Instance() { return \"${name}\"; }\n};\n")
  endforeach()
  list(TRANSFORM names PREPEND Tag_ OUTPUT_VARIABLE types)
  list(JOIN types ", " types)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/backend_tags.h @ONLY
       CONTENT [[
// SPDX-License-Identifier: Apache-2.0
//
// Written by CMake: a type for each backend of this tree.

#pragma once

#include <string>

namespace assay::worker {

@structs@
template <class... Tags>
struct TagList {};
using BackendTags = TagList<@types@>;

}  // namespace assay::worker
]])
endfunction()
