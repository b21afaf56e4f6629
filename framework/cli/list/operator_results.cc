// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/operator_results.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "framework/cli/list/results.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/record/tables.h"

namespace assay::list {
namespace {

using CaseOnBackend = std::pair<std::string, std::string>;

void Add(const record::ResultRow& result, bool claimed, OperatorResults* row) {
  const bool passed = result.outcome == record::Outcome::kPass;
  ++row->planned;
  row->pass += passed ? 1 : 0;
  row->claimed += claimed ? 1 : 0;
  row->claimed_pass += claimed && passed ? 1 : 0;
  if (result.outcome == record::Outcome::kUnsupported) {
    ++row->unsupported;
    const std::string& code = result.reason_code;
    ++row->declined[code.empty() ? "no reason" : code];
  }
  if (result.headroom.has_value()) {
    row->headroom =
        std::min(row->headroom.value_or(*result.headroom), *result.headroom);
  }
  for (const auto& us : {result.load_us, result.run_us, result.judge_us}) {
    row->time_us += us.value_or(0);
  }
}

std::string Digits(const record::Number& number) {
  if (!number.has_value()) return {};
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", *number);
  return text.data();
}

std::string Milliseconds(int64_t us) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f",
                static_cast<double>(us) / 1000);
  return text.data();
}

/// Lines of equally many cells, each column as wide as its widest cell; those
/// behind the first two stand right, the last as it is.
std::string Aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string one;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string gap(widths[i] - std::min(widths[i], line[i].size()),
                            ' ');
      one += i < 2 ? line[i] + gap : gap + line[i];
      one += "  ";
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + "\n";
  }
  return text;
}

}  // namespace

std::string OperatorResults::Why() const {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [code, count] : declined) order.emplace_back(-count, code);
  std::ranges::sort(order);
  std::vector<std::string> words;
  for (const auto& [count, code] : order) {
    words.push_back(StrCat(code, " ", -count));
  }
  return Joined(words);
}

Result<std::vector<OperatorResults>> OperatorsOf(
    const std::filesystem::path& run, std::string_view filter) {
  ASSAY_ASSIGN_OR_RETURN(const auto results, FindResults(run, filter));
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         select::ReadTable<record::PlanRow>(run, "plan.csv"));
  ASSAY_ASSIGN_OR_RETURN(
      const auto accuracy,
      select::ReadTable<record::AccuracyRow>(run, "accuracy.csv"));
  std::set<CaseOnBackend> claimed;
  for (const record::PlanRow& row : plan) {
    if (row.claimed) claimed.emplace(row.test_id, row.backend);
  }
  std::map<CaseOnBackend, OperatorResults> rows;
  std::map<CaseOnBackend, OperatorResults*> row_of;
  for (const record::ResultRow& result : results) {
    const CaseOnBackend place(result.test_id, result.backend);
    OperatorResults& row = rows[{result.op, result.backend}];
    Add(result, claimed.contains(place), &row);
    row_of[place] = &row;
  }
  for (const record::AccuracyRow& output : accuracy) {
    const auto found = row_of.find({output.test_id, output.backend});
    if (found == row_of.end() || output.reference != "expected" ||
        !output.max_ulp.has_value()) {
      continue;
    }
    record::Number& most = found->second->max_ulp;
    most = std::max(most.value_or(0), *output.max_ulp);
  }
  std::vector<OperatorResults> list;
  for (auto& [key, row] : rows) {
    std::tie(row.op, row.backend) = key;
    list.push_back(std::move(row));
  }
  return list;
}

std::string OperatorsText(const std::vector<OperatorResults>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"operator", "backend", "pass", "claimed", "unsupported", "ulp",
       "headroom", "ms", "why"}};
  for (const OperatorResults& row : rows) {
    lines.push_back(
        {row.op, row.backend, StrCat(row.pass, "/", row.planned),
         row.claimed > 0 ? StrCat(row.claimed_pass, "/", row.claimed) : "",
         row.unsupported > 0 ? StrCat(row.unsupported) : "",
         Digits(row.max_ulp), Digits(row.headroom), Milliseconds(row.time_us),
         row.Why()});
  }
  return Aligned(lines);
}

std::string OperatorsCsv(const std::vector<OperatorResults>& rows) {
  std::string csv =
      "op,backend,planned,pass,claimed,claimed_pass,unsupported,why,max_ulp,"
      "headroom,time_us\n";
  for (const OperatorResults& row : rows) {
    const std::vector<std::string> fields = {row.op,
                                             row.backend,
                                             StrCat(row.planned),
                                             StrCat(row.pass),
                                             StrCat(row.claimed),
                                             StrCat(row.claimed_pass),
                                             StrCat(row.unsupported),
                                             row.Why(),
                                             record::FieldText(row.max_ulp),
                                             record::FieldText(row.headroom),
                                             StrCat(row.time_us)};
    for (const std::string& field : fields) {
      file::AppendCsvField(csv, field);
      csv += &field == &fields.back() ? "\n" : ",";
    }
  }
  return csv;
}

}  // namespace assay::list
