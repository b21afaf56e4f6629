// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "conformance/distributed/own/near.h"
#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/own/own_part.h"
#include "conformance/distributed/own/own_run.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ::testing::HasSubstr;

OwnCase CaseOf(Operation operation, Way way = Way::kOwn, int ranks = 4) {
  OwnCase made{.of = {}, .way = way};
  made.of.what = {operation, ranks::Algorithm::kLinear, ranks,
                  operation == Operation::kBarrier ? 0 : 61, 0};
  return made;
}

OwnCase DrawnSum(int ranks) {
  OwnCase made = CaseOf(Operation::kAllReduce, Way::kOwn, ranks);
  made.of.numbers = Numbers::kDrawn;
  return made;
}

TEST(OwnCaseTest, TheNameSaysHowItIsCalled) {
  EXPECT_EQ(CaseOf(Operation::kAllReduce, Way::kTwo).test_id(),
            "distributed/allreduce/own_two.float32.sum.61#n4");
  const OwnCase halves = CaseOf(Operation::kGather, Way::kSplit);
  EXPECT_EQ(halves.ranks(), 8);
  EXPECT_EQ(halves.test_id(), "distributed/gather/own_split.float32.61#n8");
}

TEST(OwnRunTest, EveryCasePassesOnThreads) {
  for (const OwnCase& each : AllOwnCases()) {
    const RanCase ran = RanOn(each);
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kPass)
        << each.test_id() << ": " << ran.judged.message;
    EXPECT_EQ(ran.rows.size(), each.of.roots().size());
  }
}

// A broadcast by a tree brings each rank but the root one message; no formula is asked.
TEST(OwnRunTest, ARowHasWhatTheLibraryCounts) {
  const RanCase ran = RanOn(CaseOf(Operation::kBroadcast));
  EXPECT_EQ(ran.rows[0].messages, 3);
  EXPECT_EQ(ran.rows[0].bytes_sent, 3 * 61 * 4);
  EXPECT_FALSE(ran.rows[0].bytes_formula.has_value());
  EXPECT_FALSE(ran.rows[0].simulated_us.has_value());
  const RanCase clocked =
      RanOn(CaseOf(Operation::kBroadcast),
            [](Endpoint& mine) { return std::make_unique<Clocked>(mine); });
  EXPECT_EQ(clocked.rows[0].simulated_us, 1e6);
}

/// Has no collectives.
class Bare : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Collect(const CollectiveCall& call) override {
    return Endpoint::Collect(call);
  }
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return Endpoint::Start(call);
  }
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    return Endpoint::Split(color, key);
  }
};

// Kills: a library without the interface that fails where it declines.
TEST(OwnRunTest, WhatALibraryLacksIsUnsupported) {
  for (const Way way : {Way::kOwn, Way::kInPlace, Way::kStarted,
                        Way::kStartedInPlace, Way::kTwo, Way::kSplit}) {
    const RanCase ran =
        RanOn(CaseOf(Operation::kAllReduce, way),
              [](Endpoint& mine) { return std::make_unique<Bare>(mine); });
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported)
        << ran.judged.message;
  }
}

/// Changes what comes of a collective.
class Changed : public Wrapped {
 public:
  using Change = void (*)(Endpoint& mine, const CollectiveCall& call);
  Changed(Endpoint& inner, Change change) : Wrapped(inner), change_(change) {}
  Status Collect(const CollectiveCall& call) override {
    ASSAY_RETURN_IF_ERROR(inner_.Collect(call));
    change_(inner_, call);
    return OkStatus();
  }

 private:
  const Change change_;
};

Wrap Changing(Changed::Change change) {
  return [change](Endpoint& mine) {
    return std::make_unique<Changed>(mine, change);
  };
}

TEST(OwnRunTest, ABitIsAFailWithItsPlace) {
  const RanCase ran =
      RanOn(CaseOf(Operation::kBroadcast),
            Changing([](Endpoint& mine, const CollectiveCall& call) {
              if (mine.rank() == 2) call.out[4] ^= std::byte{1};
            }));
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailBits));
  EXPECT_THAT(ran.judged.message, HasSubstr("rank 2, element 1: found "));
  EXPECT_THAT(ran.judged.message, HasSubstr("at the root 0"));
  EXPECT_EQ(ran.rows[0].differing_bits, 1);
}

TEST(OwnRunTest, BytesBesideTheOutputAreAFail) {
  for (const bool is_before : {true, false}) {
    const RanCase ran =
        RanOn(CaseOf(Operation::kScatter),
              is_before ? Changing([](Endpoint&, const CollectiveCall& call) {
                *(call.out.data() - 1) = std::byte{1};
              })
                        : Changing([](Endpoint&, const CollectiveCall& call) {
                            *(call.out.data() + call.out.size()) = std::byte{1};
                          }));
    EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailRanks));
    EXPECT_THAT(ran.judged.message, HasSubstr("wrote beside its output"));
  }
}

TEST(OwnRunTest, AChangedInputIsAFail) {
  const RanCase ran = RanOn(CaseOf(Operation::kAllReduce),
                            Changing([](Endpoint&, const CollectiveCall& call) {
                              const_cast<std::byte&>(call.in.front()) ^=
                                  std::byte{1};
                            }));
  EXPECT_THAT(ran.judged.message, HasSubstr("changed its input"));
}

/// A barrier that is none.
class Open : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Collect(const CollectiveCall&) override { return OkStatus(); }
};

TEST(OwnRunTest, ABarrierThatDoesNotWaitIsAFail) {
  const RanCase ran = RanOn(CaseOf(Operation::kBarrier), [](Endpoint& mine) {
    return std::make_unique<Open>(mine);
  });
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailRanks));
  // On a machine with other work any of them may come last.
  EXPECT_THAT(ran.judged.message, HasSubstr("us before rank "));
}

// Kills: a bound that every sum is within; ranks that need not agree.
TEST(OwnRunTest, ASumThatRoundsIsHeldToItsBound) {
  const RanCase right = RanOn(DrawnSum(4));
  ASSERT_EQ(right.judged.outcome, record::Outcome::kPass)
      << right.judged.message;
  EXPECT_EQ(right.rows[0].rank_agreement, 1);
  EXPECT_EQ(right.rows[0].determinism, "run");
  const RanCase far = RanOn(
      DrawnSum(4), Changing([](Endpoint&, const CollectiveCall& call) {
        const auto sums = std::span(reinterpret_cast<float*>(call.out.data()),
                                    call.out.size() / 4);
        sums[5] += 0x1p-20F;
      }));
  EXPECT_EQ(far.judged.reason, record::ReasonCode(kFailBits));
  EXPECT_THAT(far.judged.message, HasSubstr("rank 0, element 5: found "));
  const RanCase apart = RanOn(
      DrawnSum(4), Changing([](Endpoint& mine, const CollectiveCall& call) {
        const auto sums = std::span(reinterpret_cast<float*>(call.out.data()),
                                    call.out.size() / 4);
        if (mine.rank() == 2) sums[5] = std::nextafter(sums[5], 0.0F);
      }));
  EXPECT_EQ(apart.judged.reason, record::ReasonCode(kFailBits));
  EXPECT_THAT(apart.judged.message,
              HasSubstr("rank 2, element 5: found other bits"));
  EXPECT_EQ(apart.rows[0].rank_agreement, 0);
}

// Kills: a class that is the same for all libraries.
TEST(DeterminismTest, SaysWhatBitsDoNotDependOn) {
  const ranks::Collective what = {Operation::kAllReduce,
                                  ranks::Algorithm::kLinear, 1, 2, 0};
  ranks::Collective half = what;
  half.count = 1;
  const auto ran = [&](float again, float shorter, float turned) {
    return std::vector<std::vector<OwnTask>>{
        {{what, 0, 0, Floats({1, 2})},
         {what, 0, 0, Floats({again, 2})},
         {half, 0, 0, Floats({shorter})},
         {what, 0, 0, Floats({1, turned})}}};
  };
  EXPECT_EQ(DeterminismOf(ran(1, 1, 2)), "run+sizes+order");
  EXPECT_EQ(DeterminismOf(ran(1, 3, 2)), "run+order");
  EXPECT_EQ(DeterminismOf(ran(1, 1, 3)), "run+sizes");
  EXPECT_EQ(DeterminismOf(ran(3, 3, 3)), "none");
}

/// Ignores the keys of a split.
class Keyless : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Result<std::unique_ptr<Endpoint>> Split(int color, int) override {
    return inner_.Split(color, 0);
  }
};

TEST(OwnRunTest, RanksOfAHalfAreInTheOrderOfTheirKeys) {
  const RanCase ran =
      RanOn(CaseOf(Operation::kAllGather, Way::kSplit),
            [](Endpoint& mine) { return std::make_unique<Keyless>(mine); });
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailRanks));
  EXPECT_THAT(ran.judged.message, HasSubstr("in a half of the ranks"));
}

}  // namespace
}  // namespace assay::distributed
