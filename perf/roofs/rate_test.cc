// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/rate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <utility>

#include "framework/timing/made_up_clock_fixture.h"

namespace assay::roofs {
namespace {

constexpr int64_t kBudgetNs = 20'000'000;

// Kills: rates of samples for those of rounds, ends of the interval that are
// exchanged, a rate upside down.
TEST(RateOfTest, IsUnitsOverTime) {
  timing::MadeUpClock clock = {.read_ns = 0.5};
  int64_t calls = 0;
  const auto make = [&] {
    return Loop{8, [&](int64_t rounds) {
                  // Every third sample takes a tenth longer.
                  const double factor = ++calls % 3 == 0 ? 1.1 : 1;
                  clock.now_ns += 2 * factor * static_cast<double>(rounds);
                }};
  };
  const auto rate =
      RateOf(make, {.budget_ns = kBudgetNs, .clock = clock.AsClock()});
  ASSERT_TRUE(rate.ok()) << rate.status().ToString();
  EXPECT_NEAR(rate->median, 4, 0.01);
  EXPECT_NEAR(rate->interval.high, 4, 0.01);
  EXPECT_LE(rate->interval.low, rate->median);
  EXPECT_GE(rate->n_samples, 50);
}

TEST(RateOfTest, TooFewSamplesAreNone) {
  timing::MadeUpClock clock;
  const auto make = [&] {
    return Loop{8, [&](int64_t) { clock.now_ns += 1e7; }};
  };
  const auto rate =
      RateOf(make, {.budget_ns = kBudgetNs, .clock = clock.AsClock()});
  EXPECT_EQ(rate.status().code(), StatusCode::kFailedPrecondition);
}

/// The time of each thread.
thread_local double thread_ns = 0;

/// The rate of so many threads that each do a round in a nanosecond, and how
/// many loops were made. Ends only where all run at the same time.
std::pair<Rate, int> RateOfThreads(int64_t threads) {
  std::latch together(threads);
  std::atomic<int> loops = 0;
  const auto make = [&] {
    ++loops;
    return Loop{1, [&, waits = true](int64_t rounds) mutable {
                  if (std::exchange(waits, false)) together.arrive_and_wait();
                  thread_ns += static_cast<double>(rounds);
                }};
  };
  const auto rate =
      RateOf(make, {.threads = threads, .budget_ns = kBudgetNs, .clock = [] {
                      return static_cast<int64_t>(++thread_ns);
                    }});
  EXPECT_TRUE(rate.ok()) << rate.status().ToString();
  return {rate.ok() ? *rate : Rate(), loops};
}

// Kills: threads that run one behind the other, one thread's rate for that of
// all, one loop for all threads.
TEST(RateOfTest, ThreadsHaveLoopsOfTheirOwnAndRunTogether) {
  for (const int threads : {1, 2, 3}) {
    const auto [rate, loops] = RateOfThreads(threads);
    EXPECT_EQ(loops, threads);
    EXPECT_NEAR(rate.median, threads, 0.01);
    EXPECT_NEAR(rate.interval.low, threads, 0.01);
    EXPECT_NEAR(rate.interval.high, threads, 0.01);
  }
}

}  // namespace
}  // namespace assay::roofs
