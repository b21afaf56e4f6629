// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/sampler.h"

#include <gtest/gtest.h>

#include "framework/timing/made_up_clock_fixture.h"

namespace assay::timing {
namespace {

/// A subject on a made-up clock: each call takes what `call_ns` says of it.
class SamplerTest : public testing::Test {
 protected:
  Subject Calling(const std::function<double(int64_t call)>& call_ns) {
    return [this, call_ns](int64_t calls) {
      asked_.push_back(calls);
      for (int64_t call = 0; call < calls; ++call) {
        made_up_.now_ns += call_ns(calls_++);
      }
      return OkStatus();
    };
  }

  MadeUpClock made_up_;  // 20 ns a read: a sample lasts 4,000 ns
  int64_t calls_ = 0;
  std::vector<int64_t> asked_;  // how many calls each time
};

Stopping CountOf(int64_t samples) {
  return Stopping({Count{samples}, Budget{1'000'000'000}});
}

// Kills: samples that are too short for the clock or four times too long, a
// time of a sample in place of a call's, and calls of warm-up that are samples.
TEST_F(SamplerTest, DoublesTheCallsUntilTheyLastLongEnough) {
  const Sampler sampler(made_up_.AsClock());
  const struct {
    double call_ns;
    int64_t inner;
  } kRows[] = {{7, 1024}, {100, 64}, {3'979, 2}, {3'980, 1}, {1e6, 1}};
  for (const auto& row : kRows) {
    calls_ = 0;
    asked_.clear();
    const auto samples = sampler.Take(
        Calling([&](int64_t) { return row.call_ns; }), CountOf(12));
    ASSERT_TRUE(samples.ok());
    const auto inner = static_cast<double>(row.inner);
    EXPECT_EQ(samples->inner_iters, row.inner) << row.call_ns;
    EXPECT_EQ(samples->ns,
              std::vector<double>(12, row.call_ns + made_up_.read_ns / inner));
    EXPECT_EQ(samples->warmup_iters + 12 * row.inner, calls_);
    EXPECT_TRUE(samples->warm);
    EXPECT_EQ(samples->stop_reason, StopReason::kCount);
    // Five samples of each number, and a window more.
    EXPECT_EQ(samples->warmup_iters, 5 * (2 * row.inner - 1 + row.inner));
  }
}

// Kills: samples that are shorter than was asked for, or than the clock needs.
TEST_F(SamplerTest, TakesLongerSamplesWhereItIsAskedTo) {
  const Sampler sampler(made_up_.AsClock());
  const struct {
    double least_sample_ns;
    int64_t inner;
  } kRows[] = {{1, 64}, {10'000, 128}, {1e6, 16'384}};
  for (const auto& row : kRows) {
    const auto samples =
        sampler.Take(Calling([](int64_t) { return 100.0; }), CountOf(1),
                     {.least_sample_ns = row.least_sample_ns});
    ASSERT_TRUE(samples.ok());
    EXPECT_EQ(samples->inner_iters, row.inner) << row.least_sample_ns;
  }
}

// Kills: samples that are sorted or dropped.
TEST_F(SamplerTest, KeepsSamplesInOrder) {
  const Sampler sampler(made_up_.AsClock());
  const auto samples =
      sampler.Take(Calling([](int64_t call) {
                     return 5'000 + (call < 10 ? 0 : 10 * call % 70);
                   }),
                   CountOf(4));
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->warmup_iters, 10);
  EXPECT_EQ(samples->ns, (std::vector<double>{5'050, 5'060, 5'070, 5'080}));
}

// Kills: a warm-up that ends while calls still get faster, by one window alone,
// or beside a first call that is slow.
TEST_F(SamplerTest, IsWarmWhenTwoWindowsAgree) {
  const Sampler sampler(made_up_.AsClock());
  const struct {
    std::string name;
    std::function<double(int64_t)> call_ns;
    int64_t warmup;
  } kRows[] = {
      {"first call", [](int64_t i) { return i == 0 ? 1e6 : 5e3; }, 10},
      {"steps", [](int64_t i) { return i < 5    ? 9e3
                                       : i < 12 ? 7e3
                                                : 5e3; }, 20},
      {"within 1 %", [](int64_t i) { return i < 5 ? 5e3 : 5.05e3; }, 10},
      {"beyond 1 %", [](int64_t i) { return i < 5 ? 5e3 : 5.06e3; }, 15},
  };
  for (const auto& row : kRows) {
    calls_ = 0;
    const auto samples = sampler.Take(Calling(row.call_ns), CountOf(1));
    ASSERT_TRUE(samples.ok());
    EXPECT_EQ(samples->warmup_iters, row.warmup) << row.name;
    EXPECT_TRUE(samples->warm) << row.name;
  }
}

// Kills: a warm-up without end, or one that is called warm all the same.
TEST_F(SamplerTest, GivesWarmUpATenthOfTheBudget) {
  const Sampler sampler(made_up_.AsClock());
  const auto samples = sampler.Take(
      Calling([](int64_t i) { return i / 5 % 2 == 0 ? 5e3 : 7e3; }),
      Stopping({Budget{1'000'000}}));
  ASSERT_TRUE(samples.ok());
  EXPECT_FALSE(samples->warm);
  EXPECT_EQ(samples->warmup_iters, 17);  // 10 of 5,060 and 7 of 7,060
  EXPECT_EQ(samples->stop_reason, StopReason::kBudget);
  EXPECT_GE(made_up_.now_ns, 1e6);
  EXPECT_LT(samples->ns.size(), 155U);
}

// Kills: a slow call that is warmed up for longer than the whole budget.
TEST_F(SamplerTest, CallsWhatIsSlowTwice) {
  const Sampler sampler(made_up_.AsClock());
  const auto samples = sampler.Take(Calling([](int64_t) { return 2e9; }),
                                    Stopping({Budget{1'000'000'000}}));
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->warmup_iters, 1);
  EXPECT_EQ(samples->ns.size(), 1U);
}

// Kills: a first call that is lost in warm-up, or calls that are averaged.
TEST_F(SamplerTest, TakesSingleCallsFromTheFirstOn) {
  const Sampler sampler(made_up_.AsClock());
  const auto samples = sampler.Take(
      Calling([](int64_t call) { return call == 0 ? 900.0 : 7.0; }), CountOf(3),
      {.single = true});
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->ns, (std::vector<double>{920, 27, 27}));
  EXPECT_EQ(asked_, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(samples->warmup_iters, 0);
  EXPECT_FALSE(samples->warm);
}

// Kills: a preparation that is timed, or that some samples go without.
TEST_F(SamplerTest, PreparesEachSampleOutsideOfItsTime) {
  const Sampler sampler(made_up_.AsClock());
  size_t prepared = 0;
  const auto samples = sampler.Take(Calling([](int64_t) { return 5e3; }),
                                    CountOf(3), {.before = [&] {
                                      made_up_.now_ns += 1e6;
                                      ++prepared;
                                      return OkStatus();
                                    }});
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->ns, std::vector<double>(3, 5'020));
  EXPECT_EQ(prepared, asked_.size());
}

// Kills: a failure that is timed, in the warm-up or after it.
TEST_F(SamplerTest, EndsWithTheFirstFailure) {
  const Sampler sampler(made_up_.AsClock());
  for (const int64_t fails_at : {0, 7, 11}) {
    int64_t asked = 0;
    const auto samples = sampler.Take(
        [&](int64_t) -> Status {
          made_up_.now_ns += 5e3;
          if (asked++ == fails_at) return Internal("no more");
          return OkStatus();
        },
        CountOf(100));
    EXPECT_EQ(samples.status().message(), "no more");
    EXPECT_EQ(asked, fails_at + 1);
  }
  const auto unprepared =
      sampler.Take(Calling([](int64_t) { return 5e3; }), CountOf(100),
                   {.before = [] { return Internal("not ready"); }});
  EXPECT_EQ(unprepared.status().message(), "not ready");
  EXPECT_TRUE(asked_.empty());
}

// Kills: a sampling that would never end.
TEST_F(SamplerTest, WantsABudgetAndAClockThatGoes) {
  const Subject nothing = [](int64_t) { return OkStatus(); };
  EXPECT_EQ(Sampler(made_up_.AsClock())
                .Take(nothing, Stopping({Count{1}}))
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Sampler([] { return 5; }).Take(nothing, CountOf(1)).status().code(),
            StatusCode::kInvalidArgument);
  // Nothing at all takes no time, however often it is done.
  const auto samples = Sampler(made_up_.AsClock()).Take(nothing, CountOf(1));
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->inner_iters, int64_t{1} << 40);
}

// Kills: a cost of another clock than the one that times.
TEST_F(SamplerTest, SaysTheCostOfItsClock) {
  const Sampler sampler(made_up_.AsClock());
  EXPECT_DOUBLE_EQ(sampler.cost().read_ns, 20);
}

}  // namespace
}  // namespace assay::timing
