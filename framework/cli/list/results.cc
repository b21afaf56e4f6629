// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/results.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/terminal.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/verdict/oracle_word.h"
#include "framework/testing/verdict/repeats.h"

namespace assay::list {
namespace {

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
  c.dtypes = verdict::Words(row.dtypes);
  c.shape_sig = row.shape_sig;
  c.limit.comparator = row.comparator;
  c.vacuous = row.vacuous;
  return c;
}

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
  row->time_us += result.load_us.value_or(0) + result.run_us.value_or(0);
}

std::string FourDigits(const record::Number& number) {
  return number.has_value() ? select::Digits(*number, 4) : "";
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsExplained(const record::AccuracyRow& expected,
                 const record::AccuracyRow& backend) {
  const double distance = verdict::ExactDistance(expected);
  return distance <= 1 + expected.oracle_bound.value_or(0) ||
         expected.max_unit_err.value_or(kInfinity) <= 1 ||
         distance <= verdict::ExactDistance(backend);
}

/// The part of the tolerance that the expected value takes for sure: as much of
/// its distance may be the oracle's own as the oracle's bound says.
double ShareTaken(const record::AccuracyRow& expected) {
  const double distance = verdict::ExactDistance(expected);
  const double bound = expected.oracle_bound.value_or(0);
  const double taken = 1 - expected.headroom.value_or(1);
  if (bound == 0) return taken;
  return distance > bound ? taken * (1 - bound / distance) : 0;
}

/// Floats of fewer bits are further apart than most tolerances reach. Where
/// none is permitted, it is the exact number's rounding that is wanted.
bool LeavesHalf(const record::AccuracyRow& expected) {
  const std::optional<DType> dtype = ParseDType(expected.dtype);
  if (!dtype.has_value() || BitsOf(*dtype) < 16) return true;
  const double share = ShareTaken(expected);
  if (share < kInfinity) return share <= 0.5;
  return verdict::ExactDistance(expected) <=
         0.5 + expected.oracle_bound.value_or(0);
}

/// The place that both sides of a distance share: a case, an output, and the
/// number of the row, one per data set.
using Place = std::tuple<std::string, std::string, int64_t>;

std::string DistanceText(const record::AccuracyRow& row) {
  const int64_t special =
      row.nan_mismatch.value_or(0) + row.inf_mismatch.value_or(0);
  if (special > 0) {
    return StrCat(special, " elements of NaN or infinity on one side");
  }
  const std::string ulp =
      StrCat(select::Digits(row.max_ulp.value_or(0), 3), " ULP");
  if (!verdict::IsUndecided(row)) return ulp;
  return StrCat("undecided at ", ulp, ", the oracle off by up to ",
                select::Digits(*row.oracle_bound, 3));
}

std::string ShareText(const record::AccuracyRow& expected) {
  if (LeavesHalf(expected)) return "";
  return StrCat(", ", select::Digits(ShareTaken(expected), 3),
                " of the tolerance");
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
    // Beside NaN or infinity on one side, 0 is no distance of the output.
    const bool is_special =
        output.nan_mismatch.value_or(0) + output.inf_mismatch.value_or(0) > 0;
    if (found == row_of.end() || output.reference != "expected" ||
        !(output.max_ulp.value_or(-1) >= (is_special ? 1 : 0))) {
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
         FourDigits(row.max_ulp), FourDigits(row.headroom),
         Milliseconds(row.time_us), row.Why()});
  }
  return Aligned(lines);
}

std::string OperatorsCsv(const std::vector<OperatorResults>& rows) {
  std::string csv =
      "op,backend,planned,pass,claimed,claimed_pass,unsupported,why,max_ulp,"
      "headroom,time_us\n";
  for (const OperatorResults& row : rows) {
    for (const std::string& field :
         {row.op, row.backend, StrCat(row.planned), StrCat(row.pass),
          StrCat(row.claimed), StrCat(row.claimed_pass),
          StrCat(row.unsupported), row.Why(), record::FieldText(row.max_ulp),
          record::FieldText(row.headroom), StrCat(row.time_us)}) {
      file::AppendCsvField(csv, field);
      csv += ',';
    }
    csv.back() = '\n';
  }
  return csv;
}

std::vector<Inexact> FindInexact(const std::vector<record::AccuracyRow>& rows,
                                 const std::vector<record::PlanRow>& planned) {
  std::set<std::string> derived;
  for (const record::PlanRow& row : planned) {
    if (row.kind == "expanded") derived.insert(row.test_id);
  }
  std::map<std::pair<std::string, Place>, int64_t> counts;
  std::map<Place, Inexact> found;
  for (const record::AccuracyRow& row : rows) {
    const bool of_expected = row.reference == "expected_oracle";
    if (!of_expected && row.reference != "oracle") continue;
    if (!row.max_ulp.has_value() && verdict::ExactDistance(row) == 0) continue;
    Place place(row.test_id, row.output_name, 0);
    std::get<2>(place) = counts[{row.reference + row.backend, place}]++;
    Inexact& item = found[place];
    item.data_set = std::get<2>(place);
    if (of_expected) {
      item.expected = row;
    } else if (item.backend.test_id.empty() ||
               verdict::ExactDistance(row) <
                   verdict::ExactDistance(item.backend)) {
      item.backend = row;
    }
  }
  std::vector<Inexact> listed;
  for (auto& [place, item] : found) {
    if (derived.contains(std::get<0>(place)) || item.expected.test_id.empty() ||
        item.backend.test_id.empty() ||
        (IsExplained(item.expected, item.backend) &&
         LeavesHalf(item.expected))) {
      continue;
    }
    listed.push_back(std::move(item));
  }
  std::ranges::stable_sort(listed, std::greater<>(), [](const Inexact& item) {
    return verdict::ExactDistance(item.expected);
  });
  return listed;
}

Result<std::vector<Inexact>> FindInexact(const std::filesystem::path& run) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto rows,
      select::ReadTable<record::AccuracyRow>(run, "accuracy.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto planned,
                         select::ReadTable<record::PlanRow>(run, "plan.csv"));
  const bool has_oracle =
      std::ranges::count(rows, "expected_oracle",
                         &record::AccuracyRow::reference) > 0;
  if (!has_oracle) {
    return InvalidArgument("the run ", run.string(),
                           " has no distance to an oracle, wanted one made "
                           "with --oracle");
  }
  return FindInexact(rows, planned);
}

std::string InexactText(const std::vector<Inexact>& found) {
  std::string text;
  for (const Inexact& item : found) {
    const record::AccuracyRow& expected = item.expected;
    text += select::Wrapped(StrCat(expected.test_id, " ", expected.output_name,
                                   item.data_set > 0
                                       ? StrCat(", data set ", item.data_set)
                                       : std::string()));
    text += select::Wrapped(
        StrCat(expected.dtype, expected.shape, ": expected ",
               DistanceText(expected), ShareText(expected), ", ",
               item.backend.backend, " ", DistanceText(item.backend)),
        {.indent = 2});
    if (!expected.worst_index.has_value()) continue;
    text += select::Wrapped(
        StrCat("[", *expected.worst_index, "] exact ", expected.worst_want,
               ", expected ", expected.worst_got),
        {.indent = 2});
  }
  return text;
}

}  // namespace assay::list
