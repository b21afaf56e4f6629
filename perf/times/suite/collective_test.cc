// SPDX-License-Identifier: Apache-2.0

#include "perf/times/suite/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "conformance/distributed/ranks/ranks_fixture.h"
#include "perf/times/made_fixture.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using distributed::Wrap;
using distributed::WrapIn;
using distributed::Wrapped;
using record::Outcome;
using testing::HasSubstr;

constexpr const char* kAllReduce =
    "time/allreduce/own_in_place.float32.sum.1022#n2";

Times CollectiveOn(const Wrap& wrap = nullptr, const char* id = kAllReduce) {
  distributed::WrappedRanks ranks(wrap);
  record::PlanRow row;
  row.test_id = id;
  Times times;
  times.verdict = JudgeCollective(row, ranks, nullptr, {}, &times.record);
  return times;
}

// Kills: ids that lead nowhere; cases that are planned for what has no ranks.
TEST(TimedCollectives, AreOfEachOperationBySize) {
  const auto all = TimeCases({});
  for (const char* const id :
       {kAllReduce, "time/broadcast/own_in_place.float32.62#n4",
        "time/alltoall/own.float32.65538#n4"}) {
    const auto c = std::ranges::find(all, id, &cases::TestCase::test_id);
    ASSERT_NE(c, all.end()) << id;
    EXPECT_EQ(c->suite, "time");
    EXPECT_GT(c->n_ranks, 1);
    EXPECT_EQ(CollectiveOn(nullptr, id).verdict.outcome, Outcome::kPass) << id;
  }
  EXPECT_EQ(SourceOf(kAllReduce),
            "distributed/allreduce/own_in_place.float32.sum.1022#n2");
  EXPECT_EQ(CollectiveIdOf("time/Relu/test_relu"), std::nullopt);
}

/// The last rank is done with each collective some time later.
class Slow : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Collect(const CollectiveCall& call) override {
    const Status status = inner_.Collect(call);
    if (rank() == 1) Spin(200'000);
    return status;
  }
};

TEST(JudgeCollectiveTest, TheTimeIsThatOfTheSlowestRank) {
  const auto times = CollectiveOn(WrapIn<Slow>());
  EXPECT_EQ(times.verdict.outcome, Outcome::kPass) << times.verdict.message;
  const TimeRow warm = times.Of("warm");
  EXPECT_GE(warm.min_ns.value(), 200'000);
  EXPECT_EQ(warm.n_samples, 100);
  EXPECT_EQ(warm.stop_reason, "count");
}

TEST(JudgeCollectiveTest, WrongBitsFail) {
  const auto times = CollectiveOn(WrapIn<distributed::Idle>());
  EXPECT_EQ(times.verdict.outcome, Outcome::kFail);
  EXPECT_THAT(times.verdict.message, HasSubstr("element 0: found "));
}

TEST(JudgeCollectiveTest, OnlyWhatIsTimedHasThatName) {
  const auto times = CollectiveOn(nullptr, "time/Relu/test_relu");
  EXPECT_EQ(times.verdict.outcome, Outcome::kError);
}

}  // namespace
}  // namespace assay::times
