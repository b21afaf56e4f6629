// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/own/own_grid.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/core/text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;
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

/// The places of a case's options, by the facts in its name.
std::array<int64_t, 4> FactsOf(const OwnCase& each) {
  const CollectiveCase& of = each.of;
  return {static_cast<int64_t>(each.way), of.what.count * BitsOf(of.type) / 8,
          static_cast<int64_t>(of.type), static_cast<int64_t>(of.reduction)};
}

using TwoFacts = std::array<int64_t, 4>;  // two options, and the facts

std::set<TwoFacts> PairsOf(const std::vector<OwnCase>& cases) {
  std::set<TwoFacts> pairs;
  for (const OwnCase& each : cases) {
    const auto facts = FactsOf(each);
    for (size_t a = 0; a < facts.size(); ++a) {
      for (size_t b = a + 1; b < facts.size(); ++b) {
        pairs.insert({static_cast<int64_t>(a), static_cast<int64_t>(b),
                      facts[a], facts[b]});
      }
    }
  }
  return pairs;
}

// Kills: options that are tried one at a time; pairs that no case of two ranks
// has, which a library of two is not asked.
TEST(OwnGridTest, EachTwoOptionsMeetInTierCi) {
  for (const Operation operation : ranks::kOperations) {
    std::map<int, std::vector<OwnCase>> all, of_ci;  // by ranks
    for (const OwnCase& each : GridOf(operation)) {
      const int64_t elements =
          each.sets() * each.of.what.ranks * ranks::ElementsOf(each.of.what);
      const bool is_ci = each.tier == cases::Tier::kCi;
      if (is_ci) of_ci[each.ranks()].push_back(each);
      const int64_t bytes = FactsOf(each)[1];
      const bool can_be =
          elements <= 300'000 && bytes <= 65544 && bytes != 32776;
      EXPECT_TRUE(can_be || !is_ci) << each.test_id();
      if (can_be) all[each.ranks()].push_back(each);
    }
    EXPECT_EQ(PairsOf(of_ci[2]), PairsOf(all[2])) << ToString(operation);
    EXPECT_LT(of_ci[2].size(), 120U);
    // Each option meets each number of ranks, too.
    for (const auto& [ranks, cases] : all) {
      for (size_t option = 0; option < 4; ++option) {
        std::set<int64_t> wanted, found;
        for (const OwnCase& each : cases) wanted.insert(FactsOf(each)[option]);
        for (const OwnCase& each : of_ci[ranks]) {
          found.insert(FactsOf(each)[option]);
        }
        EXPECT_EQ(found, wanted) << ToString(operation) << ", " << ranks;
      }
    }
  }
}

TEST(OwnGridTest, NightlyHasEveryWayOfEverySizeTypeAndReduction) {
  std::set<std::string> names;
  for (const OwnCase& each : AllOwnCases()) {
    EXPECT_TRUE(names.insert(each.test_id()).second) << each.test_id();
  }
  for (const char* const name :
       {"reduce/own_in_place.float32.sum.1022#n2",
        "reduce/own_started_in_place.uint8.bit_xor.65544#n3",
        "allreduce/own_two.uint64.compose.1251#n8",
        "reduce_scatter/own.bfloat16.max.16388#n2",
        "gather/own_in_place.float16.32772#n2",
        "allgather/own_in_place.float32.262146#n2", "barrier/own_started#n2",
        "alltoall/own_split_ties.float32.62#n8",
        "broadcast/own_split_none.float32.0#n4"}) {
    EXPECT_TRUE(names.contains(StrCat("distributed/", name))) << name;
  }
}

TEST(OwnRunTest, EveryCasePassesOnThreads) {
  for (const OwnCase& each : AllOwnCases()) {
    if (each.tier > cases::Tier::kCi) continue;
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
  for (const Way way : kWays) {
    const RanCase ran = RanOn(OwnCaseOf(Operation::kAllReduce, way),
                              WrapIn<WithoutCollectives>());
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported)
        << ran.judged.message;
  }
}

/// A module that was written before there were other reductions.
class OfFourReductions : public Wrapped {
 public:
  using Wrapped::Wrapped;
  bool has(Reduction reduction) const override {
    return Endpoint::has(reduction);
  }
};

TEST(OwnRunTest, AModuleIsAskedForTheReductionsThatItHas) {
  OwnCase test_case = OwnCaseOf(Operation::kAllReduce);
  PassedOn(test_case, WrapIn<OfFourReductions>());
  test_case.of.type = DType::kUint64;
  test_case.of.reduction = Reduction::kCompose;
  const RanCase ran = RanOn(test_case, WrapIn<OfFourReductions>());
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported);
  EXPECT_THAT(ran.judged.message, HasSubstr("the library has no compose"));
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

class Coloured : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    return inner_.Split(color == kNoColor ? 1 : color, key);
  }
};

TEST(OwnRunTest, ARankWithoutAColorGetsNoCommunicator) {
  const RanCase ran = RanOn(OwnCaseOf(Operation::kAllGather, Way::kSplitNone),
                            WrapIn<Coloured>());
  ExpectFails(ran, kFailRanks, "found a communicator for the color -1");
}

/// The lower of two ranks of one key comes behind.
class TiesTurned : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    return inner_.Split(color, key * 2 * inner_.size() - inner_.rank());
  }
};

TEST(OwnRunTest, RanksOfOneKeyAreInTheirOrder) {
  PassedOn(OwnCaseOf(Operation::kAllGather, Way::kSplit), WrapIn<TiesTurned>());
  const RanCase ran = RanOn(OwnCaseOf(Operation::kAllGather, Way::kSplitTies),
                            WrapIn<TiesTurned>());
  ExpectFails(ran, kFailRanks, "in a half of the ranks");
}

}  // namespace
}  // namespace assay::distributed
