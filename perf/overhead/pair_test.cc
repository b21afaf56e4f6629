// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "framework/timing/made_up_clock_fixture.h"

namespace assay::overhead {
namespace {

/// A native call of 100 us, and one of the backend that takes 50 ns more.
class TimePairTest : public testing::Test {
 protected:
  Calls Takes(double ns) {
    return [this, ns](int64_t calls) {
      made_up_.now_ns += ns * static_cast<double>(calls);
      return OkStatus();
    };
  }
  Result<times::OverheadRow> Time(int64_t most_blocks) {
    return TimePair(pair_, {.ns = 1'000'000'000, .most_blocks = most_blocks},
                    made_up_.AsClock());
  }

  timing::MadeUpClock made_up_;  // 20 ns to read it, in each sample of four
  Pair pair_ = {.test_id = "overhead/Relu/4",
                .backend = "some",
                .settings = "",
                .native = Takes(100'000),
                .framework = Takes(100'050)};
};

// Kills: sides exchanged, a ratio or difference of samples in place of calls,
// and an end that is not an interval's.
TEST_F(TimePairTest, SaysWhatTheFrameworkAdds) {
  const auto row = Time(20);
  ASSERT_TRUE(row.ok()) << row.status().ToString();
  EXPECT_EQ(row->test_id, "overhead/Relu/4");
  EXPECT_EQ(row->backend, "some");
  EXPECT_EQ(row->native_median_ns, 100'005);
  EXPECT_EQ(row->framework_median_ns, 100'055);
  EXPECT_EQ(row->n_pairs, 20);
  EXPECT_NEAR(*row->paired_ratio, 1.0005, 1e-6);
  EXPECT_NEAR(*row->ratio_ci95_lo, 1.0005, 1e-6);
  EXPECT_NEAR(*row->ratio_ci95_hi, 1.0005, 1e-6);
  EXPECT_EQ(row->delta_ns, 50);
  EXPECT_EQ(row->delta_ci95_lo_ns, 50);
  EXPECT_EQ(row->delta_ci95_hi_ns, 50);
  EXPECT_FALSE(row->eigen_median_ns.has_value());
}

// Kills: samples of one call where that is too short for a clock.
TEST_F(TimePairTest, TakesManyShortCallsInASample) {
  int64_t most_calls = 0;
  made_up_.step_ns = 100;
  pair_.native = Takes(10);
  pair_.framework = [&, takes = Takes(12)](int64_t calls) {
    most_calls = std::max(most_calls, calls);
    return takes(calls);
  };
  const auto row = Time(200);
  ASSERT_TRUE(row.ok()) << row.status().ToString();
  EXPECT_GE(most_calls, 16'384);  // some 200 us
  EXPECT_NEAR(*row->delta_ns, 2, 0.1);
}

// Kills: a side whose stack happens to lie better than the other's.
TEST_F(TimePairTest, CallsFromEveryAlignmentOfTheStackAlike) {
  std::map<uintptr_t, int64_t> native;
  std::map<uintptr_t, int64_t> framework;
  const auto notes = [](std::map<uintptr_t, int64_t>* made, Calls takes) {
    return [made, takes = std::move(takes)](int64_t calls) {
      const auto at =
          reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 64;
      (*made)[at] += calls;
      return takes(calls);
    };
  };
  pair_.native = notes(&native, Takes(100'000));
  pair_.framework = notes(&framework, Takes(100'050));
  ASSERT_TRUE(Time(20).ok());
  ASSERT_EQ(native.size(), 4);
  ASSERT_EQ(framework.size(), 4);
  for (const auto* made : {&native, &framework}) {
    for (const auto& [at, calls] : *made) EXPECT_GE(calls, 40) << at;
  }
}

// Kills: an interval of blocks that are too few for one.
TEST_F(TimePairTest, HasNoIntervalOfFewBlocks) {
  const auto row = Time(5);
  ASSERT_TRUE(row.ok());
  EXPECT_TRUE(row->paired_ratio.has_value());
  EXPECT_FALSE(row->ratio_ci95_hi.has_value());
  EXPECT_FALSE(row->delta_ci95_hi_ns.has_value());
}

// Kills: Eigen's times in a column of others, and a failure that is timed.
TEST_F(TimePairTest, TimesEigenAndReturnsFailures) {
  pair_.eigen = Takes(70'000);
  const auto row = Time(20);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->eigen_median_ns, 70'005);
  pair_.eigen = [](int64_t) { return Internal("no more"); };
  EXPECT_EQ(Time(20).status().message(), "no more");
  pair_.framework = [](int64_t) { return Internal("none"); };
  EXPECT_EQ(Time(20).status().message(), "none");
}

// Kills: sides whose bytes are not compared, or compared with what the other
// one left.
TEST(CheckAlike, WantsTheSameBytesOfBoth) {
  const auto writes = [](Tensor to, float value) {
    return Repeated([to, value]() mutable {
      to.mutable_elements<float>()[0] = value;
      return OkStatus();
    });
  };
  const Tensor output = *Tensor::Allocate(DType::kFloat32, {1});
  Pair pair = {.test_id = "overhead/Relu/1",
               .backend = "some",
               .settings = "",
               .native = writes(output, 1),
               .framework = writes(output, 1),
               .output = output};
  EXPECT_TRUE(CheckAlike(pair).ok());
  pair.framework = writes(output, 2);
  EXPECT_EQ(CheckAlike(pair).code(), StatusCode::kFailedPrecondition);
  pair.framework = [](int64_t) { return OkStatus(); };
  EXPECT_EQ(CheckAlike(pair).message(),
            "overhead/Relu/1 on some: the native calls gave other bytes than "
            "the backend, wanted the same");
}

// Kills: calls that go on behind a failure, and one too many or too few.
TEST(Repeated, MakesSoManyCallsUntilOneFails) {
  int64_t made = 0;
  const Calls calls = Repeated([&made]() -> Status {
    if (++made == 8) return Internal("enough");
    return OkStatus();
  });
  EXPECT_TRUE(calls(5).ok());
  EXPECT_EQ(made, 5);
  EXPECT_EQ(calls(5).message(), "enough");
  EXPECT_EQ(made, 8);
}

}  // namespace
}  // namespace assay::overhead
