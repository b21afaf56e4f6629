// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ::testing::HasSubstr;

OwnCase OwnCaseOf(Operation operation, Way way = Way::kOwn, int ranks = 4) {
  OwnCase made{.of = {}, .way = way};
  made.of.what = {operation, ranks::Algorithm::kLinear, ranks,
                  operation == Operation::kBarrier ? 0 : 61, 0};
  return made;
}

OwnCase DrawnSum(int ranks) {
  OwnCase made = OwnCaseOf(Operation::kAllReduce, Way::kOwn, ranks);
  made.of.numbers = Numbers::kDrawn;
  return made;
}

TEST(OwnCaseTest, TheNameSaysHowItIsCalled) {
  EXPECT_EQ(OwnCaseOf(Operation::kAllReduce, Way::kTwo).test_id(),
            "distributed/allreduce/own_two.float32.sum.61#n4");
  const OwnCase halves = OwnCaseOf(Operation::kGather, Way::kSplit);
  EXPECT_EQ(halves.ranks(), 8);
  EXPECT_EQ(halves.test_id(), "distributed/gather/own_split.float32.61#n8");
}

TEST(OwnRunTest, EveryCasePassesOnThreads) {
  for (const OwnCase& each : AllOwnCases()) {
    const RanCase ran = PassedOn(each);
    EXPECT_EQ(ran.rows.size(), each.of.roots().size());
  }
}

// A broadcast by a tree brings each rank but the root one message; no formula
// is asked.
TEST(OwnRunTest, ARowHasWhatTheLibraryCounts) {
  const RanCase ran = RanOn(OwnCaseOf(Operation::kBroadcast));
  EXPECT_EQ(ran.rows[0].messages, 3);
  EXPECT_EQ(ran.rows[0].bytes_sent, 3 * 61 * 4);
  EXPECT_FALSE(ran.rows[0].bytes_formula.has_value());
  EXPECT_FALSE(ran.rows[0].simulated_us.has_value());
  const RanCase clocked =
      RanOn(OwnCaseOf(Operation::kBroadcast), WrapIn<Clocked>());
  EXPECT_EQ(clocked.rows[0].simulated_us, 1e6);
}

class WithoutCollectives : public Wrapped {
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
    const RanCase ran = RanOn(OwnCaseOf(Operation::kAllReduce, way),
                              WrapIn<WithoutCollectives>());
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported)
        << ran.judged.message;
  }
}

class ChangedCollective : public Wrapped {
 public:
  using Change = void (*)(Endpoint& mine, const CollectiveCall& call);
  ChangedCollective(Endpoint& inner, Change change)
      : Wrapped(inner), change_(change) {}
  Status Collect(const CollectiveCall& call) override {
    ASSAY_RETURN_IF_ERROR(inner_.Collect(call));
    change_(inner_, call);
    return OkStatus();
  }

 private:
  const Change change_;
};

Wrap Changing(ChangedCollective::Change change) {
  return WrapIn<ChangedCollective>(change);
}

TEST(OwnRunTest, ABitIsAFailWithItsPlace) {
  const RanCase ran =
      RanOn(OwnCaseOf(Operation::kBroadcast),
            Changing([](Endpoint& mine, const CollectiveCall& call) {
              if (mine.rank() == 2) call.out[4] ^= std::byte{1};
            }));
  ExpectFails(ran, kFailBits, "rank 2, element 1: found ");
  EXPECT_THAT(ran.judged.message, HasSubstr("at the root 0"));
  EXPECT_EQ(ran.rows[0].differing_bits, 1);
}

TEST(OwnRunTest, BytesBesideTheOutputAreAFail) {
  const Wrap wraps[] = {Changing([](Endpoint&, const CollectiveCall& call) {
                          *(call.out.data() - 1) = std::byte{1};
                        }),
                        Changing([](Endpoint&, const CollectiveCall& call) {
                          *(call.out.data() + call.out.size()) = std::byte{1};
                        })};
  for (const Wrap& wrap : wraps) {
    const RanCase ran = RanOn(OwnCaseOf(Operation::kScatter), wrap);
    ExpectFails(ran, kFailRanks, "wrote beside its output");
  }
}

TEST(OwnRunTest, AChangedInputIsAFail) {
  const RanCase ran = RanOn(OwnCaseOf(Operation::kAllReduce),
                            Changing([](Endpoint&, const CollectiveCall& call) {
                              const_cast<std::byte&>(call.in.front()) ^=
                                  std::byte{1};
                            }));
  EXPECT_THAT(ran.judged.message, HasSubstr("changed its input"));
}

TEST(OwnRunTest, ABarrierThatDoesNotWaitIsAFail) {
  const RanCase ran = RanOn(OwnCaseOf(Operation::kBarrier), WrapIn<Idle>());
  // On a machine with other work any of them may come last.
  ExpectFails(ran, kFailRanks, "us before rank ");
}

std::span<float> SumsOf(const CollectiveCall& call) {
  return {reinterpret_cast<float*>(call.out.data()), call.out.size() / 4};
}

// Kills: a bound that every sum is within; ranks that need not agree.
TEST(OwnRunTest, ASumThatRoundsIsHeldToItsBound) {
  const RanCase right = PassedOn(DrawnSum(4));
  EXPECT_EQ(right.rows[0].rank_agreement, 1);
  EXPECT_EQ(right.rows[0].determinism, "run");
  const RanCase far =
      RanOn(DrawnSum(4), Changing([](Endpoint&, const CollectiveCall& call) {
              SumsOf(call)[5] += 0x1p-20F;
            }));
  ExpectFails(far, kFailBits, "rank 0, element 5: found ");
  const RanCase apart = RanOn(
      DrawnSum(4), Changing([](Endpoint& mine, const CollectiveCall& call) {
        float& sum = SumsOf(call)[5];
        if (mine.rank() == 2) sum = std::nextafter(sum, 0.0F);
      }));
  ExpectFails(apart, kFailBits, "rank 2, element 5: found other bits");
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

class Keyless : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Result<std::unique_ptr<Endpoint>> Split(int color, int) override {
    return inner_.Split(color, 0);
  }
};

TEST(OwnRunTest, RanksOfAHalfAreInTheOrderOfTheirKeys) {
  const RanCase ran =
      RanOn(OwnCaseOf(Operation::kAllGather, Way::kSplit), WrapIn<Keyless>());
  ExpectFails(ran, kFailRanks, "in a half of the ranks");
}

}  // namespace
}  // namespace assay::distributed
