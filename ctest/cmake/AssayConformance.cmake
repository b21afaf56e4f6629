# SPDX-License-Identifier: Apache-2.0
#
# assay_add_conformance(NAME [INSTANCES INSTANCE...] [SUITES SUITE...]
#                       [SHARDS N...] [CORPORA NAME|FOLDER...] [PLAN FOLDER]
#                       [RUN FOLDER] [ALLOW_UNAVAILABLE] [TIMES])
#
# The cases of a run as entries of CTest, on the backend that
# assay_add_backend(NAME) made, here or in a vendor's own tree:
#
#   assay_add_backend(acme SOURCES acme.cc)
#   assay_add_conformance(acme SUITES node contract SHARDS 4 1)
#
# `setup/acme` plans, an entry for each suite and shard, as node/acme.2, runs its
# part, and `merge/acme` judges all parts as one run: tables, JUnit in junit/,
# summary and page, below RUN. Any entry runs alone, and the merge fails when one
# that it needs has not run.
#
# INSTANCES are names with settings, as acme+threads=2; by default the name alone.
# SUITES are all by default, those of a backend that runs networks: fewer make the
# run a partial one. A library that carries messages between ranks has `SUITES
# distributed`. SHARDS has a number for each suite. CORPORA are taken beside
# those of every run. A missing library or device fails its entries, and is skipped
# with ALLOW_UNAVAILABLE.
#
# TIMES adds a run of the suite time with entries of its own, as time/acme.1 and
# merge/acme.time, below RUN.time: nothing else runs beside them, and no time turns
# them red.

# Those of every run, as kDefaultCorpora of framework/testing/case/corpus.h has them.
set(ASSAY_SUITES node model contract special redrawn gradcheck optimizer)
set(ASSAY_CORPORA onnx random contract special redrawn gradcheck optimizer field graphs
    composed scaled)
# And of a library that carries messages between ranks, as kRankCorpora has them.
set(ASSAY_RANK_SUITES distributed)
# Those that nothing may run beside.
set(ASSAY_TIME_SUITES time)

function(assay_add_conformance name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALLOW_UNAVAILABLE;TIMES" "PLAN;RUN"
                        "INSTANCES;SUITES;SHARDS;CORPORA")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_conformance(${name}): found "
                        "'${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET assay_backend_${name})
    message(FATAL_ERROR "assay_add_conformance(${name}): found no backend of "
                        "that name, wanted one of assay_add_backend()")
  endif()
  if(NOT TARGET Assay::assay)
    message(FATAL_ERROR "assay_add_conformance(${name}): the package Assay was "
                        "installed without its programs")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/conformance/${name})
  if(NOT arg_PLAN)
    set(arg_PLAN ${folder}/plan)
  endif()
  if(NOT arg_RUN)
    set(arg_RUN ${folder}/run)
  endif()
  if(NOT arg_INSTANCES)
    set(arg_INSTANCES ${name})
  endif()
  if(NOT arg_SUITES)
    set(arg_SUITES ${ASSAY_SUITES})
  endif()
  set(corpora "")
  if(arg_CORPORA)
    set(corpora ${ASSAY_CORPORA} ${arg_CORPORA})
  endif()
  set(allow "")
  if(arg_ALLOW_UNAVAILABLE)
    set(allow ALLOW_UNAVAILABLE)
  endif()
  assay_conformance_entries(
    ${allow} SETUP setup/${name} MERGE merge/${name} FIXTURE assay_plan_${name}
    PLAN ${arg_PLAN} RUN ${arg_RUN} BACKENDS ${arg_INSTANCES}
    SUITES ${arg_SUITES} SHARDS ${arg_SHARDS} CORPORA ${corpora})
  if(arg_TIMES)
    assay_conformance_entries(
      ${allow} SETUP setup/${name}.time MERGE merge/${name}.time
      FIXTURE assay_plan_${name}_time PLAN ${arg_PLAN}.time RUN ${arg_RUN}.time
      BACKENDS ${arg_INSTANCES} SUITES ${ASSAY_TIME_SUITES} CORPORA ${corpora})
  endif()
endfunction()

# assay_conformance_entries(SETUP ENTRY MERGE ENTRY FIXTURE NAME PLAN FOLDER
#                           RUN FOLDER BACKENDS INSTANCE... SUITES SUITE...
#                           [SHARDS N...] [CORPORA NAME...] [REQUIRED FIXTURE...]
#                           [AFTER ENTRY...] [LABEL SUITE] [ALLOW_UNAVAILABLE])
#
# The same of any number of backends, under names of entries that are given. The
# merge runs after the entries of AFTER, too. With LABEL, `ctest -L suite=SUITE` is
# the whole run, its plan and its merge among it.
function(assay_conformance_entries)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ALLOW_UNAVAILABLE"
    "SETUP;MERGE;FIXTURE;PLAN;RUN;LABEL"
    "BACKENDS;SUITES;SHARDS;CORPORA;REQUIRED;AFTER")
  assay_check_suites("${arg_SUITES}" "${arg_SHARDS}" arg_SHARDS)
  set(plan plan --out ${arg_PLAN})
  set(allow "")
  if(arg_ALLOW_UNAVAILABLE)
    set(allow --allow-unavailable)
  endif()
  foreach(instance IN LISTS arg_BACKENDS)
    assay_instance_spec(${instance} spec)
    list(APPEND plan --backend ${spec})
  endforeach()
  foreach(corpus IN LISTS arg_CORPORA)
    list(APPEND plan --corpus ${corpus})
  endforeach()
  set(others ${ASSAY_SUITES})
  if(arg_SUITES STREQUAL "${ASSAY_RANK_SUITES}")
    set(others "")
  endif()
  list(REMOVE_ITEM others ${arg_SUITES})
  set(setup_label setup)
  set(merge_label merge)
  if(arg_LABEL)
    set(setup_label ${arg_LABEL})
    set(merge_label ${arg_LABEL})
  endif()
  if(others)
    foreach(suite IN LISTS arg_SUITES)
      list(APPEND plan --suite ${suite})
    endforeach()
  endif()
  assay_conformance_entry(${arg_SETUP}
    COMMAND $<TARGET_FILE:Assay::assay> ${plan})
  set_tests_properties(${arg_SETUP} PROPERTIES
    LABELS "tier=ci;suite=${setup_label}" FIXTURES_SETUP ${arg_FIXTURE}
    FIXTURES_REQUIRED "${arg_REQUIRED}")

  # Cases that need exact answers are asked about once: a backend's entry waits
  # for that of the backend before.
  set(entries "")
  set(before "")
  foreach(instance IN LISTS arg_BACKENDS)
    string(REGEX REPLACE "\\+.*" "" name ${instance})
    foreach(suite shards IN ZIP_LISTS arg_SUITES arg_SHARDS)
      foreach(shard RANGE 1 ${shards})
        set(entry ${suite}/${instance}.${shard})
        assay_conformance_entry(${entry} READS ${arg_PLAN}/plan.*
          COMMAND $<TARGET_FILE:Assay::assay> run --plan ${arg_PLAN}
                  --parts ${arg_PLAN}/parts --backend ${instance}
                  --suite ${suite} --shard ${shard}/${shards} --jobs 1
                  ${allow})
        set_tests_properties(${entry} PROPERTIES
          LABELS "tier=ci;suite=${suite};backend=${name}"
          FIXTURES_REQUIRED "${arg_REQUIRED};${arg_FIXTURE}"
          SKIP_RETURN_CODE 77 TIMEOUT 1500)
        if(suite IN_LIST ASSAY_TIME_SUITES)
          set_tests_properties(${entry} PROPERTIES RUN_SERIAL TRUE)
        endif()
        if(suite MATCHES "^(redrawn|gradcheck)$" AND before)
          set_tests_properties(${entry} PROPERTIES
            DEPENDS ${suite}/${before}.${shard})
        endif()
        list(APPEND entries ${entry})
      endforeach()
    endforeach()
    set(before ${instance})
  endforeach()

  assay_conformance_entry(${arg_MERGE}
    READS ${arg_PLAN}/plan.* ${arg_PLAN}/parts/*/part.json
          share/assay/mutants.csv
    COMMAND $<TARGET_FILE:Assay::assay> merge ${arg_PLAN} --out ${arg_RUN} ${allow})
  set_tests_properties(${arg_MERGE} PROPERTIES
    LABELS "tier=ci;suite=${merge_label}" DEPENDS "${entries};${arg_AFTER}"
    SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()

# In Assay's own tree an entry is remembered, as every test there: READS has what
# decides it beside programs and modules, the files of the plan before it.
function(assay_conformance_entry name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "READS;COMMAND")
  if(NOT COMMAND assay_test)
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    return()
  endif()
  list(TRANSFORM arg_READS REPLACE "^${PROJECT_BINARY_DIR}/" "")
  assay_test(${name} READS ${arg_READS} COMMAND ${arg_COMMAND})
endfunction()

# Refuses suites that there are not, and makes SHARDS one number for each.
function(assay_check_suites suites shards result)
  foreach(suite IN LISTS suites)
    if(NOT suite IN_LIST ASSAY_SUITES AND NOT suite IN_LIST ASSAY_RANK_SUITES
       AND NOT suite IN_LIST ASSAY_TIME_SUITES)
      message(FATAL_ERROR "found the suite '${suite}', wanted some of "
                          "${ASSAY_SUITES}, or ${ASSAY_RANK_SUITES}")
    endif()
  endforeach()
  if(NOT shards)
    list(TRANSFORM suites REPLACE ".+" 1 OUTPUT_VARIABLE shards)
  endif()
  list(LENGTH suites n_suites)
  list(LENGTH shards n_shards)
  if(NOT n_suites EQUAL n_shards)
    message(FATAL_ERROR "found ${n_shards} SHARDS for ${n_suites} SUITES, "
                        "wanted a number for each")
  endif()
  set(${result} ${shards} PARENT_SCOPE)
endfunction()

# The value of --backend for an instance: its name where the modules lie beside
# the programs, else the file of the module with the settings.
function(assay_instance_spec instance result)
  if(TARGET assay)
    set(${result} ${instance} PARENT_SCOPE)
    return()
  endif()
  string(REGEX REPLACE "\\+.*" "" name ${instance})
  string(REGEX MATCH "\\+.*" settings ${instance})
  set(${result} $<TARGET_FILE:assay_backend_${name}>${settings} PARENT_SCOPE)
endfunction()
