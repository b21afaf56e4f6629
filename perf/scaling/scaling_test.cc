// SPDX-License-Identifier: Apache-2.0

#include "perf/scaling/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "framework/timing/drawn_times_fixture.h"

namespace assay::scaling {
namespace {

constexpr double kSizes[] = {1, 2, 4, 8, 16, 32, 64, 128};

/// 5 size^1.5, and noise.
std::vector<double> TimesOf(double sigma, core::Numbers& numbers) {
  std::vector<double> times =
      timing::SkewedTimes(std::size(kSizes), sigma, numbers);
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] *= 5 * std::pow(kSizes[i], 1.5);
  }
  return times;
}

// Kills: a slope of sizes against times, or not in logarithms.
TEST(ScalingOf, IsTheExponent) {
  core::Numbers numbers(1);
  const auto scaling = ScalingOf(kSizes, TimesOf(0, numbers));
  ASSERT_TRUE(scaling.ok());
  EXPECT_DOUBLE_EQ(scaling->exponent, 1.5);
  ASSERT_TRUE(scaling->interval);
  EXPECT_NEAR(scaling->interval->low, 1.5, 1e-12);
  EXPECT_NEAR(scaling->interval->high, 1.5, 1e-12);
}

// Kills: a slope between neighbours only, a mean of slopes, and ranks of
// another law.
TEST(ScalingOf, IsTheMedianOfAllSlopes) {
  // The slopes are 0, 1, 1, 1, 1.5, 2, 2, 7/3, 2.5 and 5.
  constexpr double kFive[] = {1, 2, 4, 8, 16};
  constexpr double kTimes[] = {1, 2, 8, 8, 256};
  const auto scaling = ScalingOf(kFive, kTimes);
  ASSERT_TRUE(scaling.ok());
  EXPECT_DOUBLE_EQ(scaling->exponent, 1.75);
  EXPECT_EQ(scaling->interval, (timing::Interval{0, 5}));
  constexpr double kSix[] = {1, 2, 4, 8, 16, 32};
  constexpr double kMore[] = {1, 2, 8, 8, 256, 256};
  const auto more = ScalingOf(kSix, kMore);
  ASSERT_TRUE(more.ok());
  // Two slopes of 0 and one of 5 more: of 720 orders 6 have at most one
  // inversion, and 20 at most two, which are too many.
  EXPECT_EQ(more->interval, (timing::Interval{0, 2.5}));
}

// Kills: an interval where there are too few orders for one.
TEST(ScalingOf, HasNoIntervalForFewSizes) {
  constexpr double kFour[] = {1, 2, 4, 8};
  const auto scaling = ScalingOf(kFour, kFour);
  ASSERT_TRUE(scaling.ok());
  EXPECT_EQ(scaling->exponent, 1);
  EXPECT_EQ(scaling->interval, std::nullopt);
}

// Kills: an interval that is narrower or wider than it says, and an exponent
// that is off on the whole.
TEST(ScalingOf, CoversTheExponentAsOftenAsItSays) {
  constexpr int64_t kDraws = 2'000;
  core::Numbers numbers(3);
  double covered = 0;
  double sum = 0;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const Scaling scaling = *ScalingOf(kSizes, TimesOf(0.2, numbers));
    sum += scaling.exponent;
    const timing::Interval interval = *scaling.interval;
    if (interval.low <= 1.5 && 1.5 <= interval.high) ++covered;
  }
  // Among 40,320 orders 628 have at most 5 inversions; three deviations.
  EXPECT_NEAR(covered / kDraws, 1 - 2 * 628 / 40320.0, 0.0117);
  EXPECT_NEAR(sum / kDraws, 1.5, 0.005);
}

// Kills: one size that leaves a cache, which turns a fit by least squares.
TEST(ScalingOf, IsNotTurnedByOneSize) {
  core::Numbers numbers(1);
  std::vector<double> times = TimesOf(0, numbers);
  times.back() *= 10;
  const auto scaling = ScalingOf(kSizes, times);
  ASSERT_TRUE(scaling.ok());
  EXPECT_NEAR(scaling->exponent, 1.5, 1e-12);
}

// Kills: sizes and times that have no logarithm, no slope or no partner.
TEST(ScalingOf, RefusesWhatHasNoExponent) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> right = {1, 2};
  const struct {
    std::vector<double> sizes, times;
  } kRows[] = {
      {{1}, {1}},       {{1, 2}, {1}},      {{}, {}},
      {{1, 1}, right},  {{0, 1}, right},    {right, {1, 0}},
      {right, {-1, 1}}, {{1, kInf}, right}, {right, {1, std::nan("")}},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(ScalingOf(row.sizes, row.times).status().code(),
              StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace assay::scaling
