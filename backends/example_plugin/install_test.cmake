# SPDX-License-Identifier: Apache-2.0
#
# Installs the core, moves the installed tree, builds the example against it as
# a vendor would, and runs a model on the module. Also: a package of another
# version is refused, as is a module that was built with other headers.
#
#   cmake -D BUILD=build -D EXAMPLE=backends/example_plugin -D WORK=/tmp/work
#         -D GENERATOR=Ninja -D COMPILER=g++ -P install_test.cmake

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --component development
    --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)

set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
set(configure ${CMAKE_COMMAND} -S ${EXAMPLE}/install_test -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${flags}
    -D CMAKE_PREFIX_PATH=${WORK}/moved)
run("configure" ${configure} -B ${WORK}/build)
run("build" ${CMAKE_COMMAND} --build ${WORK}/build)
run("the example" ${WORK}/build/run_example
    ${WORK}/build/lib/assay/example_plugin.so)
message(STATUS "${output}")

execute_process(COMMAND ${configure} -B ${WORK}/other -D WANTED=9.9
                RESULT_VARIABLE status ERROR_VARIABLE output OUTPUT_QUIET)
if(status EQUAL 0 OR NOT output MATCHES "9\\.9")
  message(FATAL_ERROR "version 9.9 was not refused:\n${output}")
endif()

# A module that was built with other headers than the core: a field more in the
# middle of LoadOptions, which the core would write elsewhere.
set(header ${WORK}/moved/include/assay/framework/backend/backend.h)
file(READ ${header} text)
string(REPLACE "  Mode mode = Mode::kInference;"
       "  Mode mode = Mode::kInference;\n  int more = 0;" changed "${text}")
if(changed STREQUAL text)
  message(FATAL_ERROR "${header} was not changed")
endif()
file(WRITE ${header} "${changed}")
run("build with other headers" ${CMAKE_COMMAND} --build ${WORK}/build)
execute_process(COMMAND ${WORK}/build/run_example
                  ${WORK}/build/lib/assay/example_plugin.so
                RESULT_VARIABLE status ERROR_VARIABLE output OUTPUT_QUIET)
if(status EQUAL 0 OR NOT output MATCHES
   "was built with other headers: found [0-9a-f]+, wanted [0-9a-f]+")
  message(FATAL_ERROR "other headers were not refused:\n${output}")
endif()
