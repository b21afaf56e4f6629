// SPDX-License-Identifier: Apache-2.0
//
// Coverage: what the cases touch of each operator that ONNX has, and, given a
// run, how many of them pass.
//
//   const auto rows = CoverageOf(cases, results);
//   std::cout << CoverageTable(rows);

#ifndef ASSAY_CLI_COVERAGE_H_
#define ASSAY_CLI_COVERAGE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/testing/rows.h"
#include "framework/testing/test_case.h"

namespace assay::inline v1 {

/// One operator of ONNX.
struct Coverage {
  std::string op;  // "ai.onnx::Conv"
  int since = 0;   // its current version
  bool has_function_body = false;
  int64_t node_cases = 0;  // of it alone, expansions left out
  int64_t models = 0;      // that have it among others
  // Of its node cases:
  std::set<int> opsets;
  std::set<std::string> dtypes;
  std::map<std::string, std::set<std::string>> attributes;  // values tried

  struct Score {
    int64_t passed = 0;
    int64_t judged = 0;
  };
  std::map<std::string, Score> backends;  // over its node cases
};

/// One entry per operator, sorted. `results` may be empty.
std::vector<Coverage> CoverageOf(const std::vector<TestCase>& cases,
                                 const std::vector<ResultRow>& results);

/// A line of titles, one per operator, one of totals. `values` counts those of
/// attributes that cases try.
std::string CoverageTable(const std::vector<Coverage>& rows);

}  // namespace assay::inline v1

#endif  // ASSAY_CLI_COVERAGE_H_
