# SPDX-License-Identifier: Apache-2.0
#
# Unit tests of cases, policies, plans, measures and verdicts.

assay_unit_test(testing ALONE
  SOURCES ../file/csv_test.cc ../file/file_test.cc case/corpus_test.cc
          case/data_set_test.cc case/numpy_file_test.cc
          case/random_weights_test.cc case/test_case_test.cc
          distribution/distribution_counts_test.cc
          distribution/distribution_law_test.cc
          distribution/distribution_test.cc draw/draw_test.cc
          draw/inputs_test.cc draw/number_set_test.cc host/link_test.cc
          host/remote_backend_test.cc host/remote_network_test.cc
          host/runs_test.cc host/timed_test.cc
          host/wire/channel_test.cc host/wire/wire_test.cc
          journal/journal_file_test.cc journal/journal_test.cc
          limit/distance_test.cc limit/limit_test.cc measure/compare_test.cc
          measure/exact_answers_test.cc measure/measure_run_test.cc
          measure/measure_test.cc measure/recheck_test.cc plan/instance_test.cc
          plan/plan_test.cc policy/floor_test.cc policy/policy_edit_test.cc
          policy/policy_line_test.cc policy/policy_test.cc policy/query_test.cc
          record/outcome_test.cc record/tables_test.cc request/request_test.cc
          suite/suites_test.cc times/row_test.cc verdict/assess_test.cc
          verdict/conformance_test.cc verdict/oracle_word_test.cc
          verdict/repeats_test.cc verdict/verdict_test.cc
          worker/case_runner_test.cc
  LIBRARIES Assay::testing ${ASSAY_ZLIB})

assay_unit_test(counts ALONE
  SOURCES host/counts/counts_test.cc LIBRARIES Assay::case)
if(ASSAY_BUILD_TESTS AND NOT ASSAY_SANITIZE)
  target_sources(counts_test PRIVATE host/counts/counted_malloc.cc)
endif()

assay_unit_test(plain_corpus
  SOURCES case/plain_corpus_test.cc case/plain_folder_test.cc
  LIBRARIES Assay::testing ${ASSAY_ZLIB} LABELS needs=corpus
  ENVIRONMENT ASSAY_CORPUS=${ASSAY_CORPUS_DIR}/onnx)

# The sources that a vendor's own tests have, too.
assay_unit_test(open_backend
  SOURCES worker/open_backend_test.cc
  LIBRARIES assay_contract MODULES null threads)

# Processes and what they share: a fork of a small program is quick.
assay_unit_test(processes
  SOURCES host/crash_report_test.cc host/wire/arena_test.cc walls/walls_test.cc
          worker/host_process_test.cc worker/process_state_test.cc
  LIBRARIES Assay::testing MODULES null DEPENDS assay-host
  DEFINITIONS ASSAY_HOST="$<TARGET_FILE:assay-host>")
