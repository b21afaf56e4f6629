// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "conformance/distributed/neighbor/neighbor_case.h"
#include "conformance/distributed/ranks/ranks_fixture.h"

namespace assay::distributed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NeighborCaseTest, TheNameSaysWhoseNeighborsExchange) {
  NeighborCase one_way = {Topology::kOneWay, 4, 61};
  EXPECT_EQ(one_way.test_id(),
            "distributed/neighbor_alltoall/own.one_way.int64.61#n4");
  one_way.starts = true;
  EXPECT_EQ(one_way.test_id(),
            "distributed/neighbor_alltoall/own_started.one_way.int64.61#n4");
}

TEST(NeighborCaseTest, ListsAreThoseOfTheGraph) {
  const NeighborLists ring = ListsOf(Topology::kRing, 0, 4);
  EXPECT_THAT(ring.to, ElementsAre(1, 3));
  EXPECT_THAT(ring.from, ElementsAre(3, 1));
  EXPECT_THAT(ListsOf(Topology::kTorus, 0, 8).to, ElementsAre(4, 1, 3));
  const NeighborLists exponential = ListsOf(Topology::kExponential, 1, 8);
  EXPECT_THAT(exponential.to, ElementsAre(2, 3, 5));
  EXPECT_THAT(exponential.from, ElementsAre(0, 7, 5));
  EXPECT_THAT(ListsOf(Topology::kUneven, 0, 4).to, IsEmpty());
  EXPECT_THAT(ListsOf(Topology::kUneven, 1, 4).to, ElementsAre(2, 3));
  EXPECT_THAT(ListsOf(Topology::kUneven, 3, 4).to, IsEmpty());
  EXPECT_THAT(ListsOf(Topology::kUneven, 3, 4).from, ElementsAre(2, 1));
  const NeighborLists multiple = ListsOf(Topology::kMultiple, 2, 3);
  EXPECT_THAT(multiple.to, ElementsAre(0, 2, 0));
  EXPECT_THAT(multiple.from, ElementsAre(1, 1, 2));
}

// Kills: lists by which a rank waits for what nobody sends.
TEST(NeighborCaseTest, ARankIsNamedAsOftenAsItNamesTheOther) {
  for (const NeighborCase& each : AllNeighborCases()) {
    for (int rank = 0; rank < each.ranks; ++rank) {
      const NeighborLists mine = ListsOf(each.topology, rank, each.ranks);
      for (int other = 0; other < each.ranks; ++other) {
        const NeighborLists theirs = ListsOf(each.topology, other, each.ranks);
        EXPECT_EQ(std::ranges::count(mine.to, other),
                  std::ranges::count(theirs.from, rank))
            << each.test_id() << ": from " << rank << " to " << other;
      }
    }
  }
}

TEST(NeighborRunTest, EveryCasePassesOnThreads) {
  for (const NeighborCase& each : AllNeighborCases()) {
    const RanCase ran = PassedOn(each);
    ASSERT_EQ(ran.rows.size(), 1U);
    EXPECT_EQ(ran.rows[0].bytes_sent, ran.rows[0].bytes_formula);
  }
}

// Two rounds of two messages of each rank.
TEST(NeighborRunTest, ARowHasWhatTheLibraryCounts) {
  const RanCase ran = RanOn(NeighborCase{Topology::kRing, 4, 61});
  EXPECT_EQ(ran.rows[0].collective, "neighbor_alltoall/own");
  EXPECT_EQ(ran.rows[0].topology, "ring");
  EXPECT_EQ(ran.rows[0].messages, 16);
  EXPECT_EQ(ran.rows[0].messages_formula, 16);
  EXPECT_EQ(ran.rows[0].bytes_sent, 16 * 61 * 8);
  EXPECT_EQ(ran.rows[0].differing_bits, 0);
}

class WithoutNeighbors : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override {
    return Endpoint::Connect(to, from);
  }
};

// Kills: a library without the exchange that fails where it declines.
TEST(NeighborRunTest, WhatALibraryLacksIsUnsupported) {
  const RanCase ran =
      RanOn(NeighborCase{Topology::kRing, 4, 61}, WrapIn<WithoutNeighbors>());
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported)
      << ran.judged.message;
  EXPECT_THAT(ran.judged.message, HasSubstr("no exchange with neighbors"));
}

using Change = Status (*)(Endpoint& mine, std::span<const std::byte> out,
                          std::span<std::byte> in);

class ChangedNeighbors : public Neighbors {
 public:
  ChangedNeighbors(Endpoint& mine, std::unique_ptr<Neighbors> inner,
                   Change change)
      : mine_(mine), inner_(std::move(inner)), change_(change) {}
  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    ASSAY_RETURN_IF_ERROR(inner_->Exchange(out, in));
    return change_(mine_, out, in);
  }

 private:
  Endpoint& mine_;
  const std::unique_ptr<Neighbors> inner_;
  const Change change_;
};

class ChangedExchange : public Wrapped {
 public:
  ChangedExchange(Endpoint& inner, Change change)
      : Wrapped(inner), change_(change) {}
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override {
    ASSAY_ASSIGN_OR_RETURN(auto right, inner_.Connect(to, from));
    return std::unique_ptr<Neighbors>(
        std::make_unique<ChangedNeighbors>(inner_, std::move(right), change_));
  }

 private:
  const Change change_;
};

RanCase RanChanged(const NeighborCase& test_case, Change change) {
  return RanOn(test_case, WrapIn<ChangedExchange>(change));
}

TEST(NeighborRunTest, ABitIsAFailWithItsPlace) {
  const RanCase ran =
      RanChanged({Topology::kExponential, 4, 61},
                 [](Endpoint& mine, auto, std::span<std::byte> in) {
                   if (mine.rank() == 2) in[8] ^= std::byte{1};
                   return OkStatus();
                 });
  ExpectFails(ran, kFailBits, "rank 2, element 1: found ");
  EXPECT_EQ(ran.rows[0].differing_bits, 2);  // in two rounds
}

// Kills: blocks that may come in any order; of one rank, or of all.
TEST(NeighborRunTest, BlocksThatChangePlacesAreAFail) {
  for (const Topology topology : {Topology::kRing, Topology::kMultiple}) {
    const RanCase ran = RanChanged(
        {topology, 4, 1}, [](Endpoint&, auto, std::span<std::byte> in) {
          std::ranges::swap_ranges(in.first(8), in.subspan(8, 8));
          return OkStatus();
        });
    SCOPED_TRACE(ToString(topology));
    ExpectFails(ran, kFailBits, "rank 0, element 0: found ");
  }
}

TEST(NeighborRunTest, BytesBesideTheOutputAndAChangedInputAreFails) {
  const NeighborCase test_case = {Topology::kOneWay, 3, 61};
  const RanCase beside =
      RanChanged(test_case, [](Endpoint&, auto, std::span<std::byte> in) {
        *(in.data() + in.size()) = std::byte{1};
        return OkStatus();
      });
  ExpectFails(beside, kFailRanks, "wrote beside its output");
  const RanCase changed = RanChanged(
      test_case, [](Endpoint&, std::span<const std::byte> out, auto) {
        const_cast<std::byte&>(out.front()) ^= std::byte{1};
        return OkStatus();
      });
  ExpectFails(changed, kFailRanks, "changed its input");
}

// Kills: a library whose exchange has messages that nobody asked for.
TEST(NeighborRunTest, AMessageBesideTheExchangeIsAFail) {
  const RanCase ran =
      RanChanged({Topology::kOneWay, 2, 61}, [](Endpoint& mine, auto, auto) {
        const int other = 1 - mine.rank();
        return mine.Exchange(other, {}, other, {});
      });
  ExpectFails(ran, kFailCost,
              "rank 0: found 976 bytes in 4 messages by the "
              "library's own count, wanted 976 in 2");
}

}  // namespace
}  // namespace assay::distributed
