# SPDX-License-Identifier: Apache-2.0
#
# Part of the installation of an archive: copies the shared libraries that the
# programs and modules need, those of C and C++ apart, into the folder `bundled`,
# and what Debian says of their licences into `licences`.

file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${programs} MODULES ${modules}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR lost
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libassay_core" "^libdnnl"
    "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so")
if(lost)
  message(FATAL_ERROR "found no ${lost}, which the programs or modules need")
endif()
foreach(library IN LISTS found)
  file(INSTALL ${library} DESTINATION ${bundled} FOLLOW_SYMLINK_CHAIN)
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND dpkg-query -S "*/${name}" OUTPUT_VARIABLE package
                  ERROR_QUIET RESULT_VARIABLE status)
  string(REGEX MATCH "^[^:]+" package "${package}")
  if(status EQUAL 0 AND EXISTS /usr/share/doc/${package}/copyright)
    file(INSTALL /usr/share/doc/${package}/copyright
         DESTINATION ${licences} RENAME ${package})
  endif()
endforeach()
