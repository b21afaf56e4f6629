// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/inexact.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/wrapped_text.h"
#include "framework/testing/verdict/oracle_word.h"

namespace assay::list {
namespace {

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

/// Three digits: more of a distance say nothing.
std::string ThreeDigits(double x) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", x);
  return text.data();
}

std::string DistanceText(const record::AccuracyRow& row) {
  const int64_t special =
      row.nan_mismatch.value_or(0) + row.inf_mismatch.value_or(0);
  if (special > 0) {
    return StrCat(special, " elements of NaN or infinity on one side");
  }
  const std::string ulp = StrCat(ThreeDigits(row.max_ulp.value_or(0)), " ULP");
  if (!verdict::IsUndecided(row)) return ulp;
  return StrCat("undecided at ", ulp, ", the oracle off by up to ",
                ThreeDigits(*row.oracle_bound));
}

std::string ShareText(const record::AccuracyRow& expected) {
  if (LeavesHalf(expected)) return "";
  return StrCat(", ", ThreeDigits(ShareTaken(expected)), " of the tolerance");
}

}  // namespace

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
