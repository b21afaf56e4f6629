// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "framework/timing/drawn_times_fixture.h"

namespace assay::timing {
namespace {

// Kills: another definition of percentiles than the seventh, whose values here
// are those of R's quantile and numpy's percentile.
TEST(Percentile, IsLinearBetweenNeighbours) {
  constexpr double kFive[] = {15, 20, 35, 40, 50};
  constexpr double kTwo[] = {1, 2};
  constexpr double kOne[] = {7};
  const struct {
    std::span<const double> sorted;
    double p, want;
  } kRows[] = {
      {kFive, 0, 15},      {kFive, 0.25, 20}, {kFive, 0.4, 29},
      {kFive, 0.5, 35},    {kFive, 0.75, 40}, {kFive, 0.9, 46},
      {kFive, 0.99, 49.6}, {kFive, 1, 50},    {kTwo, 0.5, 1.5},
      {kTwo, 0.99, 1.99},  {kOne, 0.25, 7},   {kOne, 1, 7},
  };
  for (const auto& row : kRows) {
    EXPECT_DOUBLE_EQ(Percentile(row.sorted, row.p), row.want) << row.p;
  }
}

// Kills: a percentile in another's place, moments over n, a correlation of the
// sorted samples, and an outlier that is left out or counted twice.
TEST(Summarize, TakesEveryNumberOfAllSamples) {
  // Quartiles at 1000 and 1040: fences at 940 and 1100, at 880 and 1160.
  constexpr double kSamples[] = {1010, 870,  1025, 1160, 1000, 1030, 880,
                                 1020, 1161, 1040, 940,  1015, 1100};
  const Summary s = Summarize(kSamples);
  EXPECT_EQ(s.n, 13);
  EXPECT_DOUBLE_EQ(s.min, 870);
  EXPECT_DOUBLE_EQ(s.p25, 1000);
  EXPECT_DOUBLE_EQ(s.median, 1020);
  EXPECT_DOUBLE_EQ(s.p75, 1040);
  EXPECT_DOUBLE_EQ(s.p90, 1148);
  EXPECT_DOUBLE_EQ(s.p99, 1160.88);
  EXPECT_DOUBLE_EQ(s.max, 1161);
  EXPECT_DOUBLE_EQ(s.mean, 13251 / 13.0);
  EXPECT_DOUBLE_EQ(s.stdev, 89.17434666182928);
  EXPECT_EQ(s.interval, (Interval{940, 1100}));
  EXPECT_EQ(s.mild_outliers, 2);
  EXPECT_EQ(s.severe_outliers, 2);
  EXPECT_NEAR(s.lag1, -0.01870763337468486, 1e-15);
}

// Kills: a deviation of one sample that is not a number.
TEST(Summarize, TakesOneSample) {
  constexpr double kOne[] = {5};
  const Summary s = Summarize(kOne);
  EXPECT_EQ(s.p99, 5);
  EXPECT_EQ(s.stdev, 0);
  EXPECT_EQ(s.interval, std::nullopt);
  EXPECT_EQ(s.lag1, 0);
}

// Kills: a correlation of each sample with itself or the next but one, and one
// that is over the samples without the last.
TEST(LagOne, IsTheCorrelationWithTheNext) {
  constexpr double kRising[] = {1, 2, 3, 4};
  constexpr double kTurning[] = {1, -1, 1, -1};
  constexpr double kEqual[] = {3, 3, 3};
  EXPECT_DOUBLE_EQ(LagOne(kRising), 0.25);
  EXPECT_DOUBLE_EQ(LagOne(kTurning), -0.75);
  EXPECT_EQ(LagOne(kEqual), 0);
}

// Kills: ranks that are off by one, of one tail with 5 %, or of a normal law.
TEST(MedianInterval, HasTheRanksOfTheBinomialLaw) {
  // The samples are 1 to n; the ranks are those of the table of the sign test.
  constexpr struct {
    int64_t n;
    double low, high;
  } kRows[] = {
      {6, 1, 6},     {8, 1, 8},      {9, 2, 8},          {12, 3, 10},
      {20, 6, 15},   {50, 18, 33},   {63, 24, 40},       {100, 40, 61},
      {101, 41, 61}, {200, 86, 115}, {3000, 1446, 1555},
  };
  for (const auto& row : kRows) {
    std::vector<double> sorted(static_cast<size_t>(row.n));
    std::iota(sorted.begin(), sorted.end(), 1);
    EXPECT_EQ(MedianInterval(sorted), (Interval{row.low, row.high})) << row.n;
  }
  constexpr double kFive[] = {1, 2, 3, 4, 5};
  EXPECT_EQ(MedianInterval(kFive), std::nullopt);
}

// Kills: ranks that are off by one or of the other end, an interval of too few.
// The ranks are sums of exact fractions.
TEST(PercentileInterval, HasTheRanksOfTheBinomialLaw) {
  constexpr struct {
    int64_t n;
    double p, low, high;
  } kRows[] = {{36, 0.9, 29, 36},     {37, 0.9, 29, 37},
               {100, 0.9, 84, 96},    {1000, 0.9, 881, 919},
               {368, 0.99, 360, 368}, {1000, 0.99, 983, 997},
               {6, 0.5, 1, 6},        {101, 0.5, 41, 61}};
  for (const auto& row : kRows) {
    std::vector<double> sorted(static_cast<size_t>(row.n));
    std::iota(sorted.begin(), sorted.end(), 1);
    EXPECT_EQ(PercentileInterval(sorted, row.p), (Interval{row.low, row.high}))
        << row.n << " " << row.p;
  }
  EXPECT_EQ(PercentileInterval(std::vector<double>(35), 0.9), std::nullopt);
  EXPECT_EQ(PercentileInterval(std::vector<double>(367), 0.99), std::nullopt);
}

/// The share of 2,000 draws of n times with median 1 whose interval has it.
double CoverageOf(size_t n, double lag1) {
  constexpr int64_t kDraws = 2'000;
  core::Numbers numbers(n);
  int64_t covered = 0;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const auto times = CorrelatedTimes(n, 1.5, lag1, numbers);
    const Interval interval = *Summarize(times).interval;
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  return static_cast<double>(covered) / kDraws;
}

// Kills: an interval that is narrower or wider than it says where the law is
// skewed: here its mean is three times its median.
TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  constexpr struct {
    size_t n;
    double chance;  // exact, of the binomial law
  } kRows[] = {{12, 0.96142578125}, {63, 0.95704345447}, {101, 0.95395593307}};
  for (const auto& row : kRows) {
    const double coverage = CoverageOf(row.n, 0);
    EXPECT_GE(coverage, 0.93) << row.n;
    EXPECT_LE(coverage, 0.97) << row.n;
    EXPECT_NEAR(coverage, row.chance, 0.013) << row.n;  // three deviations
  }
}

// The header's warning: samples that hang together tell less.
TEST(MedianInterval, IsTooNarrowForCorrelatedSamples) {
  EXPECT_LT(CoverageOf(101, 0.7), 0.8);
}

}  // namespace
}  // namespace assay::timing
