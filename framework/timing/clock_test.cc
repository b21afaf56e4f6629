// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/clock.h"

#include <gtest/gtest.h>

#include <ctime>

#include "framework/timing/made_up_clock_fixture.h"

namespace assay::timing {
namespace {

// Kills: a cost that is that of two reads or of a hundred, or is rounded to the
// clock's steps; a resolution that is another step than the least.
TEST(CostOf, IsThatOfAReadAndOfAStep) {
  constexpr struct {
    double read_ns, step_ns;
    double cost_ns;
    int64_t resolution_ns;
  } kRows[] = {
      {20, 1, 20, 20},
      {0.5, 1, 0.5, 1},
      {25, 1000, 20, 1000},  // 100 reads see two steps or three
      {0, 1, 0, 0},
  };
  for (const auto& row : kRows) {
    MadeUpClock made_up = {.read_ns = row.read_ns, .step_ns = row.step_ns};
    const ClockCost cost = CostOf(made_up.AsClock());
    EXPECT_DOUBLE_EQ(cost.read_ns, row.cost_ns) << row.read_ns;
    EXPECT_EQ(cost.resolution_ns, row.resolution_ns) << row.read_ns;
  }
}

// Kills: a mean in place of the median, which one interruption spoils, and a
// resolution that is the last step seen.
TEST(CostOf, IsNotThatOfAnInterruption) {
  MadeUpClock made_up;
  const Clock clock = made_up.AsClock();
  int64_t reads = 0;
  const ClockCost cost = CostOf([&] {
    if (++reads % 5'000 == 0) made_up.now_ns += 1e9;
    return clock();
  });
  EXPECT_DOUBLE_EQ(cost.read_ns, 20);
  EXPECT_EQ(cost.resolution_ns, 20);
}

// Kills: a sample that is long enough for the cost and not for the steps.
TEST(LeastSampleNs, IsTwoHundredTimesWhicheverIsMore) {
  EXPECT_DOUBLE_EQ(LeastSampleNs({.read_ns = 25, .resolution_ns = 1}), 5'000);
  EXPECT_DOUBLE_EQ(LeastSampleNs({.read_ns = 25, .resolution_ns = 100}),
                   20'000);
}

// Kills: a clock that can be set, or tells another unit than it says.
TEST(SteadyNow, IsTheMonotonicClock) {
  timespec before = {};
  timespec after = {};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const int64_t now = SteadyNow();
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_GE(now, before.tv_sec * 1'000'000'000 + before.tv_nsec);
  EXPECT_LE(now, after.tv_sec * 1'000'000'000 + after.tv_nsec);
}

}  // namespace
}  // namespace assay::timing
