# SPDX-License-Identifier: Apache-2.0
#
# Unit tests of cases, policies, plans and verdicts.

assay_unit_test(testing
  SOURCES conformance_test.cc corpus_test.cc csv_test.cc file_test.cc
          instance_test.cc mutant_line_test.cc mutants_table_test.cc plan_test.cc
          policy_edit_test.cc policy_line_test.cc policy_test.cc
          query_test.cc record_test.cc stability_test.cc tables_test.cc
          verdict_test.cc
  LIBRARIES Assay::testing)

assay_unit_test(measure
  SOURCES compare_test.cc exact_answers_test.cc measure_exact_test.cc
          measure_run_test.cc measure_test.cc
          measure_value_test.cc outcome_test.cc process_state_test.cc
          random_weights_test.cc recheck_test.cc test_case_test.cc
  LIBRARIES Assay::case)

assay_unit_test(distribution
  SOURCES distribution_counts_test.cc distribution_law_test.cc
          distribution_seeds_test.cc distribution_test.cc
  LIBRARIES Assay::case)

assay_unit_test(plain_corpus
  SOURCES plain_corpus_test.cc LIBRARIES Assay::testing LABELS needs=corpus)
if(ASSAY_BUILD_TESTS)
  set_tests_properties(unit/plain_corpus PROPERTIES
    ENVIRONMENT "ASSAY_CORPUS=${ASSAY_CORPUS_DIR}/onnx")
endif()
