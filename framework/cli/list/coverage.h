// SPDX-License-Identifier: Apache-2.0
//
// Coverage: the parts of each operator that ONNX permits, how many cases touch
// each part, and, given a run, how many of them pass. A part that no case
// touches is a hole.
//
// The parts are the operator's versions, the element types of its type
// variables, and the values of its attributes.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/rows.h"

namespace assay::list {

/// The parts of one kind by name, with the number of cases that touch each.
template <class Name>
using Touched = std::map<Name, int64_t>;

/// One operator of ONNX. Only cases that are about it touch it: node cases and
/// those of suites of code, not expansions or models.
struct Coverage {
  std::string op;    // "ai.onnx::Conv"
  std::string name;  // as in a test_id: "ml.Scaler"
  int since = 0;     // its current version
  bool has_function_body = false;
  int64_t node_cases = 0;
  int64_t models = 0;  // that have it among others
  Touched<int> opsets;
  /// "T float32", for every type that a type variable may stand for.
  Touched<std::string> dtypes;
  /// "mode=cubic" where the values can be enumerated; else "alpha given", that
  /// is, other than its default, and "alpha absent" where it may be.
  Touched<std::string> values;

  struct Score {
    int64_t passed = 0;
    int64_t judged = 0;
  };
  std::map<std::string, Score> backends;  // over its cases
};

/// The typed main graph of a case; an error for one that has none.
using GraphOf = std::function<Result<Graph>(const cases::TestCase&)>;

/// One entry per operator, sorted. `results` may be empty. A case whose graph
/// cannot be had is counted and touches nothing.
std::vector<Coverage> CoverageOf(const std::vector<cases::TestCase>& cases,
                                 const std::vector<record::ResultRow>& results,
                                 const GraphOf& graph_of);

/// The values that an attribute can have, where ONNX's pages name them all; its
/// schemas say only "string" or "int". An operator is named as in a test_id.
/// Empty where the values cannot be enumerated.
std::vector<std::string_view> ValuesOf(std::string_view op,
                                       std::string_view attribute);

/// The operators and attributes that the table names, for its test: an operator
/// is empty where an attribute means the same in all.
struct NamedAttribute {
  std::string_view op;
  std::string_view attribute;
};
std::vector<NamedAttribute> NamedAttributes();

/// A line of titles, one per operator with what is touched of what there is,
/// one of totals. 80 columns where there are no scores.
std::string CoverageTable(const std::vector<Coverage>& rows);

/// A line per hole: "ai.onnx::Elu dtype T float16".
std::string HoleLines(const std::vector<Coverage>& rows);

}  // namespace assay::list
