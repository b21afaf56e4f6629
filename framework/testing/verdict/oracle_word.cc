// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/oracle_word.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "framework/core/text.h"

namespace assay::verdict {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Three digits: more of a distance say nothing.
std::string Digits(double x) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", x);
  return text.data();
}

/// True of integers and the like, which have no ULP, where some are wrong.
bool IsOff(const record::AccuracyRow& row) {
  return !row.max_ulp.has_value() && row.out_of_limit.value_or(0) > 0;
}

double DistanceOf(const record::AccuracyRow& row) {
  return IsOff(row) ? kInfinity : ExactDistance(row);
}

std::string DistanceText(const record::AccuracyRow& row) {
  const double distance = ExactDistance(row);
  if (distance == kInfinity) return "NaN or infinity on one side";
  if (IsOff(row)) {
    return StrCat(*row.out_of_limit, " of ", row.n_elem.value_or(0),
                  " elements other");
  }
  return StrCat(Digits(distance), " ULP");
}

/// Both sides of one output of one data set.
struct Sides {
  const record::AccuracyRow* got = nullptr;
  const record::AccuracyRow* expected = nullptr;

  double Bound() const {
    return std::max(got->oracle_bound.value_or(0),
                    expected->oracle_bound.value_or(0));
  }
  /// How much further off the expected data are, for certain; negative when the
  /// backend is, 0 when the bound leaves it open.
  double Lead() const {
    const double a = DistanceOf(*expected);
    const double b = DistanceOf(*got);
    if (a == b) return 0;
    return std::abs(a - b) > 2 * Bound() ? a - b : 0;
  }
};

/// Rows of several data sets stand one behind the other.
std::vector<Sides> Paired(std::span<const record::AccuracyRow> rows) {
  std::map<std::pair<std::string, std::string>, int> count;
  std::map<std::pair<std::string, int>, Sides> found;
  for (const record::AccuracyRow& row : rows) {
    const bool of_expected = row.reference == "expected_oracle";
    if (!of_expected && row.reference != "oracle") continue;
    const int nth = count[{row.reference, row.output_name}]++;
    Sides& sides = found[{row.output_name, nth}];
    (of_expected ? sides.expected : sides.got) = &row;
  }
  std::vector<Sides> pairs;
  for (const auto& [place, sides] : found) {
    if (sides.got != nullptr && sides.expected != nullptr) {
      pairs.push_back(sides);
    }
  }
  return pairs;
}

}  // namespace

double ExactDistance(const record::AccuracyRow& row) {
  if (row.nan_mismatch.value_or(0) + row.inf_mismatch.value_or(0) > 0) {
    return kInfinity;
  }
  return row.max_ulp.value_or(0);
}

bool IsUndecided(const record::AccuracyRow& row) {
  return row.oracle_bound.has_value() &&
         !row.share_correctly_rounded.has_value() &&
         ExactDistance(row) <= *row.oracle_bound;
}

std::string OracleWord(std::span<const record::AccuracyRow> rows) {
  const std::vector<Sides> pairs = Paired(rows);
  if (pairs.empty()) return {};
  const Sides& most = *std::ranges::max_element(
      pairs, {}, [](const Sides& sides) { return std::abs(sides.Lead()); });
  const std::string distances =
      StrCat("expected ", DistanceText(*most.expected),
             " from the exact values, got ", DistanceText(*most.got));
  const std::string bound =
      most.Bound() > 0
          ? StrCat(", the oracle off by at most ", Digits(most.Bound()), " ULP")
          : "";
  if (most.Lead() > 0) {
    return StrCat("by the oracle the expected data are the worse side: ",
                  distances, bound);
  }
  if (most.Lead() < 0) {
    return StrCat("by the oracle the backend is the worse side: ", distances,
                  bound);
  }
  const bool equal = DistanceOf(*most.expected) == DistanceOf(*most.got);
  if (equal && !IsUndecided(*most.got)) {
    return StrCat("by the oracle neither side is the worse: ", distances,
                  bound);
  }
  if (most.Bound() == kInfinity) {
    return StrCat("the oracle is undecided, since a decision on the way is in ",
                  "doubt or a number beyond double: ", distances);
  }
  return StrCat("the oracle is undecided: ", distances, bound);
}

}  // namespace assay::verdict
