# SPDX-License-Identifier: Apache-2.0
#
# assay_headers_digest(FOLDER LIST DIGEST): of the installed headers in a folder,
# sets LIST to a line for each, digits of its SHA-256 and its path, and DIGEST to
# digits of the SHA-256 of those lines. build_facts.h, which holds the digest, is
# left out.

function(assay_headers_digest folder list digest)
  file(GLOB_RECURSE files RELATIVE ${folder}
       ${folder}/assay/*.h ${folder}/framework/*.h)
  list(REMOVE_ITEM files framework/backend/identity/build_facts.h)
  list(SORT files)
  set(lines "")
  foreach(file IN LISTS files)
    file(SHA256 ${folder}/${file} sum)
    string(SUBSTRING ${sum} 0 16 sum)
    string(APPEND lines "${sum} ${file}\n")
  endforeach()
  string(SHA256 sum "${lines}")
  string(SUBSTRING ${sum} 0 16 sum)
  set(${list} "${lines}" PARENT_SCOPE)
  set(${digest} ${sum} PARENT_SCOPE)
endfunction()

# assay_note_headers(TARGET): what is built with TARGET's headers says which they
# are, whatever became of them since they were installed.
function(assay_note_headers target)
  get_target_property(folder ${target} INTERFACE_INCLUDE_DIRECTORIES)
  assay_headers_digest(${folder} lines digest)
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
    ASSAY_HEADERS_DIGEST="${digest}")
  string(REGEX MATCHALL "(assay|framework)/[^\n]*" files "${lines}")
  list(TRANSFORM files PREPEND ${folder}/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
endfunction()
