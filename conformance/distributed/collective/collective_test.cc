// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/core/text.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

CollectiveCase RingOf(int ranks) {
  return {.what = {ranks::Operation::kAllReduce, ranks::Algorithm::kRing, ranks,
                   1021, 0}};
}

TEST(CollectiveCaseTest, EveryCaseHasANameOfItsOwn) {
  std::set<std::string> names;
  const std::vector<CollectiveCase> all = AllCollectiveCases();
  for (const CollectiveCase& each : all) names.insert(each.test_id());
  EXPECT_EQ(names.size(), all.size());
  EXPECT_GT(all.size(), 1000U);
  EXPECT_EQ(RingOf(8).test_id(),
            "distributed/allreduce/ring.float32.sum.1021#n8");
}

TEST(CollectiveCaseTest, GoesThroughTheRootsOfACollectiveThatHasOne) {
  CollectiveCase broadcast = RingOf(8);
  EXPECT_EQ(broadcast.roots(), std::vector<int>{0});
  broadcast.what.operation = ranks::Operation::kBroadcast;
  EXPECT_EQ(broadcast.roots(), (std::vector<int>{0, 4, 7}));
}

// Kills: ranks that are alike, of which a lost or exchanged one does not show.
TEST(ContentsTest, NoTwoRanksHaveANumberInCommon) {
  for (const Numbers numbers : {Numbers::kWhole, Numbers::kDrawn}) {
    CollectiveCase test_case = RingOf(61);
    test_case.numbers = numbers;
    const auto contents = ContentsOf(test_case, 5).value();
    for (int64_t i = 0; i < 1021; i += 170) {
      std::set<float> found;
      for (const Tensor& each : contents) {
        found.insert(each.elements<float>()[static_cast<size_t>(i)]);
      }
      EXPECT_EQ(found.size(), contents.size());
      EXPECT_FALSE(found.contains(0));
    }
  }
}

/// The bytes of the buffers combined.
std::vector<std::byte> Combined(CollectiveCase test_case,
                                const std::vector<Tensor>& contents) {
  test_case.what.ranks = static_cast<int>(contents.size());
  const std::vector<Wanted> wanted = WantedOf(test_case, 0, contents).value();
  const auto bytes = wanted[0].buffer.bytes();
  return {bytes.begin(), bytes.end()};
}

// Kills: contents of which a rank that is left out does not show in the result.
TEST(ContentsTest, ARankThatIsLeftOutShowsInEachReduction) {
  for (const DType type :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kInt8,
        DType::kUint8, DType::kInt32, DType::kUint64}) {
    for (int reduction = 0; reduction <= 10; ++reduction) {
      CollectiveCase test_case = RingOf(7);
      test_case.what.count = 255;
      test_case.type = type;
      test_case.reduction = static_cast<ranks::Reduction>(reduction);
      if (!ranks::IsDefined(test_case.reduction, type)) continue;
      const std::vector<Tensor> all = ContentsOf(test_case, 5).value();
      for (int rank = 0; rank < 7; ++rank) {
        std::vector<Tensor> others = all;
        others.erase(others.begin() + rank);
        EXPECT_NE(Combined(test_case, others), Combined(test_case, all))
            << test_case.test_id() << " without " << rank;
      }
    }
  }
}

// Kills: contents that give the same in any order of the ranks.
TEST(ContentsTest, ComposedNumbersShowTheOrderOfRanks) {
  CollectiveCase test_case = RingOf(7);
  test_case.type = DType::kUint64;
  test_case.reduction = ranks::Reduction::kCompose;
  const std::vector<Tensor> all = ContentsOf(test_case, 5).value();
  for (size_t rank = 1; rank < all.size(); ++rank) {
    std::vector<Tensor> turned = all;
    std::swap(turned[rank - 1], turned[rank]);
    EXPECT_NE(Combined(test_case, turned), Combined(test_case, all)) << rank;
  }
}

// Kills: a definition that is not the operation's, a formula of another
// algorithm.
TEST(CollectiveRunTest, EveryCasePassesOnThreads) {
  for (const CollectiveCase& each : AllCollectiveCases()) {
    if (each.tier() > cases::Tier::kCi) continue;
    const RanCase ran = PassedOn(each);
    EXPECT_EQ(ran.rows.size(), each.roots().size());
  }
}

TEST(CollectiveRunTest, ARowSaysWhatWasFound) {
  const RanCase ran = RanOn(RingOf(4));
  ASSERT_EQ(ran.rows.size(), 1U);
  const DistributedRow& row = ran.rows[0];
  EXPECT_EQ(row.collective, "allreduce/ring");
  EXPECT_EQ(row.ranks, 4);
  EXPECT_EQ(row.differing_bits, 0);
  EXPECT_EQ(row.bytes_sent, 2 * 3 * 1021 * 4);
  EXPECT_EQ(row.bytes_formula, row.bytes_sent);
  EXPECT_EQ(row.messages, 2 * 4 * 3);
  EXPECT_EQ(row.mode, "exact");
  EXPECT_FALSE(row.simulated_us.has_value());
  const RanCase clocked = RanOn(RingOf(4), WrapIn<Clocked>());
  EXPECT_EQ(clocked.rows.at(0).simulated_us, 1e6 * 2 * 3);
}

// Kills: a comparison of rank 0 alone, of sums, or within a tolerance.
TEST(CollectiveRunTest, OneBitOfOneMessageIsAFail) {
  for (const Numbers numbers : {Numbers::kWhole, Numbers::kDrawn}) {
    CollectiveCase test_case = RingOf(4);
    test_case.numbers = numbers;
    // The third is added up and goes on to all, the sixth is what rank 1 ends
    // with.
    for (const int which : {3, 6}) {
      const RanCase ran = RanOn(test_case, WrapIn<Flipping>(which));
      EXPECT_EQ(ran.judged.outcome, record::Outcome::kFail);
      ExpectFails(ran, kFailBits,
                  which == 3 ? "rank 0, element " : "rank 1, element ");
      EXPECT_THAT(ran.judged.message, HasSubstr(", wanted "));
      EXPECT_THAT(ran.judged.message,
                  HasSubstr(StrCat("; rank 1 received message ", which,
                                   " from rank 0 other than it was sent: ")));
      EXPECT_GT(ran.rows[0].differing_bits, 0);
    }
  }
}

class AllFirst : public Wrapped {
 public:
  using Wrapped::Wrapped;
  int rank() const override { return 0; }
};

// Kills: ranks that run another rank's part, which would not be noticed where
// one rank has the result.
TEST(CollectiveRunTest, RanksOfOneNumberAreAFail) {
  CollectiveCase alone = RingOf(1);
  PassedOn(alone, WrapIn<AllFirst>());
  CollectiveCase none = RingOf(3);
  none.what.count = 0;
  none.what.operation = ranks::Operation::kBarrier;
  none.what.algorithm = ranks::Algorithm::kLinear;
  const RanCase ran = RanOn(none, WrapIn<AllFirst>());
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailRanks));
}

/// Sends more than it is asked for, and receives no other bytes by it.
class Acknowledging : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
    return inner_.Exchange(from, {}, to, {});
  }
};

// Kills: messages that the library sends beside ours, and nobody sees.
TEST(CollectiveRunTest, MessagesThatNobodyAskedForAreAFail) {
  const RanCase ran = RanOn(RingOf(2), WrapIn<Acknowledging>());
  ExpectFails(ran, kFailCost, "rank 0: found 4084 bytes in 4 messages and");
  EXPECT_THAT(ran.judged.message, HasSubstr("wanted 4084 in 2"));
}

class Twice : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    WrappedRanks ranks;
    ASSAY_RETURN_IF_ERROR(ranks.Run(count, rank).status());
    return ranks.Run(count, rank);
  }
};

void ExpectRingFailsOn(Ranks&& ranks, const std::string& said) {
  record::Record record;
  ExpectFails({RunCase(RingOf(2), {ranks, "others", 0}, &record), {}},
              kFailRanks, said);
}

TEST(CollectiveRunTest, RanksThatRunTwiceAreAFail) {
  ExpectRingFailsOn(Twice(), "found 2 ranks of number 0");
}

class Nobody : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>&) override {
    return std::vector<RankEnd>();
  }
};

TEST(CollectiveRunTest, RanksThatWereNotRunAreAFail) {
  ExpectRingFailsOn(Nobody(), "found 0 ranks of number 0");
}

class Failing : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (rank() == 2) return Internal("the cable is out");
    return inner_.Exchange(to, out, from, in);
  }
};

TEST(CollectiveRunTest, ARankThatFailsIsNamed) {
  const RanCase ran = RanOn(RingOf(4), WrapIn<Failing>());
  ExpectFails(ran, kFailRanks, "rank 2: the cable is out");
}

}  // namespace
}  // namespace assay::distributed
