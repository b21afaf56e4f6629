// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/coverage.h"

#include <algorithm>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/testing/outcome.h"

namespace assay::inline v1 {
namespace {

std::string Qualified(std::string_view domain, std::string_view name) {
  return StrCat(domain.empty() ? "ai.onnx" : domain, "::", name);
}

/// The operator that a node case is about: an id names it with its domain only
/// when that is not ai.onnx.
std::string OperatorOf(const TestCase& c) {
  const size_t dot = c.op.rfind('.');
  return Qualified(c.domain,
                   dot == std::string::npos ? c.op : c.op.substr(dot + 1));
}

std::map<std::string, Coverage> KnownOperators() {
  std::map<std::string, Coverage> known;
  for (const OperatorInfo& info : Operators()) {
    Coverage row;
    row.op = Qualified(info.domain, info.name);
    row.since = info.versions.back();
    row.has_function_body = info.has_function_body;
    known.emplace(row.op, std::move(row));
  }
  return known;
}

void AddNodeCase(const TestCase& c, Coverage* row) {
  ++row->node_cases;
  row->opsets.insert(c.opset);
  row->dtypes.insert(c.dtypes.begin(), c.dtypes.end());
  for (const auto& [name, value] : c.attributes) {
    row->attributes[name].insert(value);
  }
}

/// `text` at the right end of a column.
std::string Right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string Scores(const Coverage& row) {
  std::string text;
  for (const auto& [backend, score] : row.backends) {
    text += StrCat("  ", backend, " ", score.passed, "/", score.judged);
  }
  return text;
}

}  // namespace

std::vector<Coverage> CoverageOf(const std::vector<TestCase>& cases,
                                 const std::vector<ResultRow>& results) {
  std::map<std::string, Coverage> rows = KnownOperators();
  std::map<std::string, Coverage*> by_case;
  for (const TestCase& c : cases) {
    if (c.kind == "node") {
      const auto found = rows.find(OperatorOf(c));
      if (found == rows.end()) continue;
      AddNodeCase(c, &found->second);
      by_case.emplace(c.test_id, &found->second);
    } else if (c.kind == "model") {
      for (const std::string& op : c.operators) {
        const auto found = rows.find(op);
        if (found != rows.end()) ++found->second.models;
      }
    }
  }
  for (const ResultRow& result : results) {
    const auto found = by_case.find(result.test_id);
    if (found == by_case.end()) continue;
    Coverage::Score& score = found->second->backends[result.backend];
    ++score.judged;
    if (result.outcome == ToString(Outcome::kPass)) ++score.passed;
  }
  std::vector<Coverage> sorted;
  for (auto& [op, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

std::string CoverageTable(const std::vector<Coverage>& rows) {
  constexpr size_t kColumn = 7;
  size_t width = 0;
  for (const Coverage& row : rows) width = std::max(width, row.op.size());
  std::string text = "operator" + Right("since", width + kColumn - 8);
  for (const char* title : {"cases", "models", "opsets", "dtypes", "values"}) {
    text += Right(title, kColumn);
  }
  text += "\n";
  int64_t without = 0;
  for (const Coverage& row : rows) {
    without += row.node_cases == 0 ? 1 : 0;
    size_t n_values = 0;
    for (const auto& [name, values] : row.attributes) n_values += values.size();
    text += row.op + Right(StrCat(row.since), width + kColumn - row.op.size());
    text += Right(StrCat(row.node_cases), kColumn);
    text += Right(StrCat(row.models), kColumn);
    text += Right(StrCat(row.opsets.size()), kColumn);
    text += Right(StrCat(row.dtypes.size()), kColumn);
    text += Right(StrCat(n_values), kColumn) + Scores(row) + "\n";
  }
  return text +
         StrCat(rows.size(), " operators, ", without, " without a node case\n");
}

}  // namespace assay::inline v1
