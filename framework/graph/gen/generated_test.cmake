# SPDX-License-Identifier: Apache-2.0
#
# Passes when the generator writes what is committed, byte for byte.
#
#   cmake -D GENERATOR=FILE -D COMMITTED=DIR -D FRESH=DIR -P generated_test.cmake

file(REMOVE_RECURSE ${FRESH})
file(MAKE_DIRECTORY ${FRESH})
execute_process(COMMAND ${GENERATOR} ${FRESH} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${GENERATOR} failed: ${failed}")
endif()
file(GLOB committed RELATIVE ${COMMITTED} ${COMMITTED}/*)
file(GLOB fresh RELATIVE ${FRESH} ${FRESH}/*)
if(NOT committed STREQUAL fresh)
  message(FATAL_ERROR "committed are ${committed}, the generator writes ${fresh}")
endif()
foreach(name IN LISTS fresh)
  file(SHA256 ${COMMITTED}/${name} want)
  file(SHA256 ${FRESH}/${name} found)
  if(NOT want STREQUAL found)
    message(SEND_ERROR
      "${COMMITTED}/${name} is stale; to renew it:\n"
      "  ${GENERATOR} ${COMMITTED}")
  endif()
endforeach()
