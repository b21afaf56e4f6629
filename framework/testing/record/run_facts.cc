// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/run_facts.h"

#include <chrono>

namespace assay::record {

ResultRow ResultOf(const PlanRow& row, const RunFacts& facts) {
  ResultRow result;
  result.run_id = facts.run_id;
  result.attempt = facts.attempt;
  result.test_id = row.test_id;
  result.backend = row.backend;
  result.settings = row.settings;
  result.suite = row.suite;
  result.op = row.op;
  result.domain = row.domain;
  result.opset = row.opset;
  result.dtype = row.dtypes;
  result.shape_sig = row.shape_sig;
  result.vacuous = !row.vacuous.empty();
  result.seed = facts.seed;
  result.limit_source = row.limit_source;
  return result;
}

int64_t SteadyMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace assay::record
