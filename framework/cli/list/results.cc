// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/results.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "framework/cli/select/chosen_case.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/tables.h"

namespace assay::list {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

/// The facts of a planned case that a query may ask for.
cases::TestCase CaseOf(const record::PlanRow& row) {
  cases::TestCase c;
  c.test_id = row.test_id;
  c.corpus = row.corpus;
  c.suite = row.suite;
  c.op = row.op;
  c.domain = row.domain;
  c.kind = row.kind;
  c.opset = static_cast<int>(row.opset.value_or(0));
  c.dtypes = Words(row.dtypes);
  c.limit.comparator = row.comparator;
  c.vacuous = row.vacuous;
  return c;
}

}  // namespace

Result<std::vector<record::ResultRow>> FindResults(
    const std::filesystem::path& run, std::string_view filter) {
  ASSAY_ASSIGN_OR_RETURN(const policy::Query query,
                         policy::Query::Parse(filter));
  if (query.NeedsAttributes() || query.NeedsRanks()) {
    return InvalidArgument("the filter '", filter, "' asks for ",
                           query.NeedsRanks() ? "ranks" : "attributes",
                           ", which a run does not keep");
  }
  ASSAY_ASSIGN_OR_RETURN(
      auto results, select::ReadTable<record::ResultRow>(run, "results.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto planned,
                         select::ReadTable<record::PlanRow>(run, "plan.csv"));
  std::map<std::pair<std::string_view, std::string_view>,
           const record::PlanRow*>
      plan;
  for (const record::PlanRow& row : planned) {
    plan[{row.backend, row.test_id}] = &row;
  }
  const size_t of = results.size();
  std::erase_if(results, [&](const record::ResultRow& row) {
    const auto found = plan.find({row.backend, row.test_id});
    return found == plan.end() ||
           !query.Matches({CaseOf(*found->second), row.backend,
                           ToString(row.outcome), row.reason_code});
  });
  if (results.empty()) {
    return InvalidArgument("the selection is empty: none of ", of,
                           " results matches '", filter, "'");
  }
  return results;
}

std::string ResultsText(const std::vector<record::ResultRow>& rows) {
  std::string text;
  record::OutcomeCounts counts = {};
  for (const record::ResultRow& row : rows) {
    ++counts.at(static_cast<size_t>(row.outcome));
    const std::string line = row.message.substr(0, row.message.find('\n'));
    text += StrCat(row.outcome, " ", row.backend, " ", row.test_id,
                   line.empty() ? "" : ": ", line, "\n");
  }
  std::vector<std::string> sums;
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const int64_t count = counts.at(static_cast<size_t>(i));
    if (count == 0) continue;
    sums.push_back(
        StrCat(ToString(static_cast<record::Outcome>(i)), " ", count));
  }
  return StrCat(text, rows.size(), " results: ", Joined(sums), "\n");
}

std::string ResultsCsv(const std::vector<record::ResultRow>& rows) {
  std::string csv = record::CsvHeader<record::ResultRow>();
  for (const record::ResultRow& row : rows) record::AppendCsvRow(csv, row);
  return csv;
}

}  // namespace assay::list
