// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/noted_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/forwarding.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/rank_call.h"

namespace assay::ranks {
namespace {

/// A clock of one rank, which goes on by 10 us each time that it is asked.
MicrosecondClock Ticking() {
  return [now = int64_t{0}]() mutable { return now += 10; };
}

/// Reads what stands in the table while a message is under way.
class Peeking : public ForwardingEndpoint {
 public:
  Peeking(Endpoint& inner, const CallTable& table)
      : ForwardingEndpoint(inner), table_(table) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    seen = table_.Read(rank());
    return inner_.Exchange(to, out, from, in);
  }

  RankState seen;

 private:
  const CallTable& table_;
};

// Kills: a call that is written when it is over.
TEST(NotedEndpointTest, ACallStandsThereWhileItLasts) {
  CallTable table = CallTable::InMemory(2);
  const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
    Peeking peeking(mine, table);
    NotedEndpoint noted(peeking, &table, /*run=*/5, Ticking());
    const int other = 1 - mine.rank();
    const std::array<std::byte, 3> out = {};
    std::array<std::byte, 3> in = {};
    ASSAY_RETURN_IF_ERROR(noted.Exchange(other, out, kNobody, {}));
    ASSAY_RETURN_IF_ERROR(noted.Exchange(kNobody, {}, other, in));
    EXPECT_EQ(peeking.seen.where, Whereabouts::kInCall);
    EXPECT_EQ(peeking.seen.number, 2);
    EXPECT_EQ(peeking.seen.since_us, 20);
    EXPECT_EQ(peeking.seen.call.from, other);
    EXPECT_EQ(peeking.seen.call.in, 3);
    EXPECT_EQ(peeking.seen.run, 5);
    EXPECT_EQ(table.Read(mine.rank()).where, Whereabouts::kBetweenCalls);
    noted.End();
    return OkStatus();
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(ended[static_cast<size_t>(rank)].ok());
    EXPECT_EQ(table.Read(rank).where, Whereabouts::kEnded);
  }
}

// Kills: a call that failed and is forgotten.
TEST(NotedEndpointTest, ACallThatFailedStays) {
  CallTable table = CallTable::InMemory(2);
  RunThreads(2, [&](Endpoint& mine) -> Status {
    NotedEndpoint noted(mine, &table);
    if (mine.rank() == 1) {
      noted.End();
      return OkStatus();
    }
    std::array<std::byte, 4> in = {};
    return noted.ReceiveAny(in).status();
  });
  EXPECT_EQ(table.Read(0).where, Whereabouts::kInCall);
  EXPECT_EQ(TextOf(table.Read(0).call), "receive 4 bytes from anybody");
  EXPECT_EQ(table.Read(1).where, Whereabouts::kEnded);
}

TEST(NotedEndpointTest, CollectivesAreCountedInTheirGroups) {
  CallTable table = CallTable::InMemory(4);
  const CollectiveCall barrier = {.operation = Operation::kBarrier};
  const auto ended = RunThreads(4, [&](Endpoint& mine) -> Status {
    NotedEndpoint noted(mine, &table);
    ASSAY_RETURN_IF_ERROR(noted.Collect(barrier));
    ASSAY_ASSIGN_OR_RETURN(const auto half, noted.Split(mine.rank() % 2, 0));
    ASSAY_ASSIGN_OR_RETURN(const auto begun, half->Start(barrier));
    return begun->Wait();
  });
  for (const Status& status : ended) EXPECT_TRUE(status.ok());
  const std::vector<RankState> states = table.ReadAll();
  for (int rank = 0; rank < 4; ++rank) {
    const RankState& state = states[static_cast<size_t>(rank)];
    EXPECT_EQ(state.groups[0].group, kAllRanks);
    EXPECT_EQ(state.groups[0].collectives, 2);  // and the split
    EXPECT_EQ(state.groups[1].rank, rank / 2);
    EXPECT_EQ(state.groups[1].collectives, 1);
    EXPECT_EQ(state.number, 4);
    EXPECT_EQ(TextOf(state.call), "wait for barrier in a part of the ranks");
  }
  EXPECT_EQ(states[0].groups[1].group, states[2].groups[1].group);
  EXPECT_NE(states[0].groups[1].group, states[1].groups[1].group);
}

TEST(NotedEndpointTest, ExchangesWithNeighborsAreCollectivesOfTheirGroup) {
  CallTable table = CallTable::InMemory(2);
  const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
    NotedEndpoint noted(mine, &table);
    const std::array other = {1 - mine.rank()};
    ASSAY_ASSIGN_OR_RETURN(const auto neighbors, noted.Connect(other, other));
    EXPECT_EQ(TextOf(table.Read(mine.rank()).call), "connect with neighbors");
    const std::array<std::byte, 3> out = {};
    std::array<std::byte, 3> in = {};
    return neighbors->Exchange(out, in);
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(ended[static_cast<size_t>(rank)].ok());
    const RankState state = table.Read(rank);
    EXPECT_EQ(TextOf(state.call), "exchange with neighbors");
    EXPECT_EQ(state.call.collective, 2);
    EXPECT_EQ(state.groups[0].collectives, 2);
  }
}

}  // namespace
}  // namespace assay::ranks
