// SPDX-License-Identifier: Apache-2.0
//
// Comparison: which of two takes longer, from units of both: blocks, or groups
// of them (pairs.h).
//
//   const Comparison first = Compare(log_ratios);
//   const std::vector<double> q = BenjaminiHochberg(p_values);  // of the suite
//   if (IsApart(first, q[0], {})) second = Compare(log_ratios_again);
//   const Verdict verdict = VerdictOf(first, q[0], second, {});
//
// Ratio, interval and p-value are those of the signed ranks. They ask only that
// each unit's log-ratio is about the ratio itself, and as likely above it as
// below by as much. The coins make that so, whatever the law of the times and
// the correlation of neighbours; no bootstrap, which would draw units as if
// they were independent, can say as much. Ranks bound the weight of a unit that
// was disturbed, and their exact law has no least p-value that a number of
// random flips would set.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "framework/timing/statistics.h"

namespace assay::timing {

struct Comparison {
  int64_t units = 0;
  double ratio = 1;                  // candidate over base
  std::optional<Interval> interval;  // of the ratio; none below 6 units
  double p_value = 1;                // SignFlipP
  double lag1 = 0;                   // of the log-ratios; 0 but for chance
};

/// At least one log-ratio of a unit, as LogRatios and GroupLogRatios give them.
/// The logarithm of the ratio is the median of the means of all two units, and
/// of each with itself (J. Hodges and E. Lehmann, "Estimates of location based
/// on rank tests", 1963); the interval has all ratios that the signed ranks do
/// not refute at 5 % (J. Tukey's, in M. Hollander and D. Wolfe, Nonparametric
/// Statistical Methods, 1973, section 3.3).
Comparison Compare(std::span<const double> log_ratios);

/// The least slowdown, as a ratio, that would be found beyond the margin by 95
/// in 100 sets of as many units with the same spread: beyond it by half of the
/// interval, for the level, and for the power by 1.64 / 1.96 of that again, as
/// in a normal law. Nothing where there is no interval.
std::optional<double> LeastSlowdown(const Comparison& comparison,
                                    double margin);

/// How often, at most, flipping the sign of each difference by a coin gives a
/// sum of signed ranks as far from 0 as this one: two-sided; 1 for zeros only.
/// Ties share the mean of their ranks, zeros have ranks and no sign (J. Pratt,
/// "Remarks on zeros and ties in the Wilcoxon signed rank procedures", 1959).
/// Exact up to 300 differences; beyond, by the normal law of the same mean and
/// variance (F. Wilcoxon, "Individual comparisons by ranking methods", 1945).
double SignFlipP(std::span<const double> differences);

/// The q-value of each p-value: the least share of false finds in a family at
/// which it is found. q of the i-th smallest of m is the least of p_k m / k
/// over k >= i (Y. Benjamini and Y. Hochberg, "Controlling the false discovery
/// rate", 1995).
std::vector<double> BenjaminiHochberg(std::span<const double> p_values);

enum class Verdict : uint8_t { kSame, kBetter, kWorse, kUnsure };

/// "same", "better", "worse" or "unsure", as in the table of comparisons.
std::string_view ToString(Verdict verdict);

/// Ratios from 1 / (1 + margin) to 1 + margin are as good as 1. A slowdown of
/// the margin itself is therefore as good as never found: to find 3 %, ask for
/// 1 %.
struct Thresholds {
  double margin = 0.03;
  double q = 0.05;
};

/// These blocks say better or worse, which a second set then confirms or not:
/// the interval lies beyond the margin, and the q-value, in the family of all
/// that are compared, is low.
bool IsApart(const Comparison& comparison, double q_value,
             const Thresholds& thresholds);

/// Same: the interval lies within the margin, which is two one-sided tests at
/// 2.5 % each (D. Schuirmann, "A comparison of the two one-sided tests
/// procedure", 1987). Better and worse: IsApart, and so is `second`, of blocks
/// taken afterwards in another order, to the same side, with its own p-value.
/// All else is unsure, also for want of blocks or of a second set.
Verdict VerdictOf(const Comparison& first, double q_value,
                  const std::optional<Comparison>& second,
                  const Thresholds& thresholds);

}  // namespace assay::timing
