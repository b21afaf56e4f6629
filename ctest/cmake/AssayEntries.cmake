# SPDX-License-Identifier: Apache-2.0
#
# assay_corpus_entries(PLAN DIR RUN DIR BACKENDS INSTANCE... SUITES NAME...
#                      SHARDS N...)
#
# One run under ctest: `setup/corpus` exports, `setup/plan` plans, an entry for
# each suite, backend and shard runs its part, and `merge` judges all of them as
# one run in the folder RUN. An INSTANCE is a backend's name, with settings
# behind a + where it has some. SHARDS has a number for each suite.
#
# Entries read like node/reference.2; any of them runs alone, and merge fails
# when one that it needs has not run.

function(assay_corpus_entries)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PLAN;RUN" "BACKENDS;SUITES;SHARDS")
  add_test(NAME setup/corpus
    COMMAND ${ASSAY_PYTHON} ${PROJECT_SOURCE_DIR}/conformance/corpus/export.py
            --out ${ASSAY_CORPUS_DIR}/onnx)
  set_tests_properties(setup/corpus PROPERTIES
    LABELS "tier=ci;suite=setup" FIXTURES_SETUP assay_corpus)

  set(random "")
  if(TARGET assay_random_corpus)
    set(random --corpus ${ASSAY_CORPUS_DIR}/random)
  endif()
  set(named "")
  foreach(backend IN LISTS arg_BACKENDS)
    string(REGEX REPLACE "\\+.*" "" name ${backend})
    if(TARGET assay_backend_${name})
      list(APPEND named --backend ${backend})
    endif()
  endforeach()
  add_test(NAME setup/plan
    COMMAND assay plan ${named} --corpus ${ASSAY_CORPUS_DIR}/onnx
            ${random} --corpus contract --corpus special --corpus field
            --corpus graphs --corpus scaled --corpus gradcheck
            --out ${arg_PLAN})
  set_tests_properties(setup/plan PROPERTIES
    LABELS "tier=ci;suite=setup" FIXTURES_SETUP assay_plan
    FIXTURES_REQUIRED assay_corpus)

  # Cases that need exact answers are asked about once: a backend's entry waits
  # for that of the backend before.
  set(entries "")
  set(before "")
  foreach(backend IN LISTS arg_BACKENDS)
    string(REGEX REPLACE "\\+.*" "" name ${backend})
    if(NOT TARGET assay_backend_${name})
      continue()
    endif()
    foreach(suite shards IN ZIP_LISTS arg_SUITES arg_SHARDS)
      foreach(shard RANGE 1 ${shards})
        set(entry ${suite}/${backend}.${shard})
        add_test(NAME ${entry}
          COMMAND assay run --plan ${arg_PLAN} --parts ${arg_PLAN}/parts
                  --backend ${backend} --suite ${suite}
                  --shard ${shard}/${shards} --jobs 1)
        set_tests_properties(${entry} PROPERTIES
          LABELS "tier=ci;suite=${suite};backend=${name}"
          FIXTURES_REQUIRED "assay_corpus;assay_plan"
          SKIP_RETURN_CODE 77 TIMEOUT 1500)
        if(suite STREQUAL "gradcheck" AND before)
          set_tests_properties(${entry} PROPERTIES
            DEPENDS ${suite}/${before}.${shard})
        endif()
        list(APPEND entries ${entry})
      endforeach()
    endforeach()
    set(before ${backend})
  endforeach()

  add_test(NAME merge COMMAND assay merge ${arg_PLAN} --out ${arg_RUN})
  set_tests_properties(merge PROPERTIES
    LABELS "tier=ci;suite=merge" DEPENDS "${entries};trust/mutants" TIMEOUT 300)
endfunction()
