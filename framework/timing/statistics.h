// SPDX-License-Identifier: Apache-2.0
//
// Statistics of samples whose law is unknown: order statistics with intervals
// that hold for every continuous law, and moments beside them. All samples
// count: outliers are counted and kept.
//
//   const Summary s = Summarize(samples);
//   if (s.interval) Show(s.median, s.interval->low, s.interval->high);
//
// The intervals are of 95 % for independent samples. Samples that follow each
// other with positive correlation, as those of a disturbed machine do, tell
// less than their number says: the interval is then too narrow. `lag1` is
// beside it for that reason, and a comparison does not rest on it
// (comparison.h).

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::timing {

/// The confidence of every interval of this room.
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

/// Numbers in the samples' own unit. A percentile p lies at (n - 1) p between
/// the sorted samples, counted from 0, linearly between its neighbours:
/// definition 7 of R. Hyndman and Y. Fan, "Sample quantiles in statistical
/// packages", 1996, which R and numpy take.
struct Summary {
  int64_t n = 0;
  double min = 0, p25 = 0, median = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0;
  double stdev = 0;                  // over n - 1; 0 for one sample
  std::optional<Interval> interval;  // of the median; none below 6 samples
  /// Beyond 1.5, and beyond 3 times the distance of the quartiles from the
  /// nearer one (J. Tukey, Exploratory Data Analysis, 1977); none is both.
  int64_t mild_outliers = 0, severe_outliers = 0;
  double lag1 = 0;  // LagOne
};

/// At least one sample, finite, in the order in which they were taken.
Summary Summarize(std::span<const double> samples);

/// 0 <= p <= 1, of at least one number in ascending order; Summary says how.
double Percentile(std::span<const double> sorted, double p);

/// The correlation of each sample with the next: sum (x_i - m)(x_i+1 - m) over
/// sum (x_i - m)^2, with the mean m of all (G. Box and G. Jenkins, Time Series
/// Analysis, 1970). 0 where all are equal.
double LagOne(std::span<const double> samples);

/// From the l-th smallest to the l-th greatest of n ascending numbers, with the
/// greatest l for which either end is beyond the truth in 2.5 % of cases at
/// most. `chances`, n + 1 of them, symmetric and of any sum, say how likely it
/// is that k of the numbers lie below the truth. Nothing where no l is.
std::optional<Interval> CentralInterval(std::span<const double> sorted,
                                        std::span<const double> chances);

/// CentralInterval of the median: each of n independent samples lies below it
/// with probability 1/2, so that the chances are binomial (H. David and H.
/// Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1).
std::optional<Interval> MedianInterval(std::span<const double> sorted);

/// The same of the number below which a sample lies with probability p, 0 < p <
/// 1: the chances are those of n coins of that side. Nothing where even the
/// least or the greatest is on the wrong side of it too often: below 36 samples
/// for p = 0.9, below 368 for 0.99.
std::optional<Interval> PercentileInterval(std::span<const double> sorted,
                                           double p);

}  // namespace assay::timing
