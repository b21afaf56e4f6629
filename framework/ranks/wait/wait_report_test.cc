// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/wait_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RankState Numbered(int64_t number) {
  RankState state;
  state.run = state.number = state.since_us = number;
  state.groups.back().collectives = number;
  state.ranks = 2;
  state.where = Whereabouts::kInCall;
  return state;
}

TEST(CallTableTest, ARankWritesWhatAllRead) {
  CallTable table = CallTable::InMemory(3);
  table.Write(1, Numbered(7));
  EXPECT_EQ(table.Read(1).number, 7);
  EXPECT_EQ(table.ReadAll().size(), 3U);
  EXPECT_EQ(table.Read(2).where, Whereabouts::kUnknown);
}

TEST(CallTableTest, AReaderSeesWholeStates) {
  constexpr int64_t kWrites = 20'000;
  CallTable table = CallTable::InMemory(1);
  const std::jthread writer([&] {
    for (int64_t i = 1; i <= kWrites; ++i) table.Write(0, Numbered(i));
  });
  for (int64_t last = 0; last < kWrites;) {
    const RankState state = table.Read(0);
    if (state.where == Whereabouts::kUnknown) continue;
    EXPECT_EQ(state.run, state.groups.back().collectives);
    EXPECT_EQ(state.number, state.since_us);
    EXPECT_GE(state.number, last);
    last = state.number;
  }
}

// Kills: processes that have tables of their own; one that cuts what another
// has.
TEST(CallTableTest, AFileIsOneTable) {
  const file::ScratchFolder folder;
  const std::filesystem::path file = folder.path() / kCallsFile;
  CallTable first = CallTable::InFile(file, 4).value();
  CallTable second = CallTable::InFile(file, 2).value();
  first.Write(3, Numbered(5));
  second.Write(1, Numbered(6));
  EXPECT_EQ(first.Read(1).number, 6);
  const std::vector<RankState> read = ReadCalls(file);
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[1].number, 6);
  EXPECT_EQ(read[3].number, 5);
  EXPECT_EQ(
      CallTable::InFile(folder.path() / "no" / "folder", 2).status().code(),
      StatusCode::kInternal);
}

// Kills: names found by a number that a broken library has written; a reader
// that waits for ever, or follows a link.
TEST(CallTableTest, WhatIsNoTableIsRead) {
  const file::ScratchFolder folder;
  for (const RankState& state :
       ReadCalls(folder.Write("garbage", std::string(10'000, '\xff')))) {
    EXPECT_EQ(state.where, Whereabouts::kUnknown);
    EXPECT_EQ(state.ranks, 0);
  }
  EXPECT_TRUE(ReadCalls(folder.path()).empty());
  EXPECT_TRUE(ReadCalls(folder.path() / "none").empty());
  CallTable::InFile(folder.path() / "table", 2).value();
  std::filesystem::create_symlink(folder.path() / "table",
                                  folder.path() / "link");
  EXPECT_TRUE(ReadCalls(folder.path() / "link").empty());
  RankState wrong = Numbered(1);
  wrong.call.operation = static_cast<Operation>(200);
  EXPECT_FALSE(CanBe(wrong));
  wrong = Numbered(1);
  wrong.call.type = static_cast<DType>(200);
  EXPECT_FALSE(CanBe(wrong));
  EXPECT_TRUE(CanBe(Numbered(1)));
}

TEST(CallTableTest, TheLastRunHasItsRanks) {
  std::vector<RankState> all(3);
  EXPECT_TRUE(StatesOfLastRun(all).empty());
  all[2] = Numbered(4);  // of two ranks, which are the first ones
  all[0] = Numbered(3);
  const std::vector<RankState> last = StatesOfLastRun(all);
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].number, 3);
}

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
  EXPECT_THAT(ended, kAllWell);
  for (const RankState& state : table.ReadAll()) {
    EXPECT_EQ(state.where, Whereabouts::kEnded);
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
  EXPECT_THAT(ended, kAllWell);
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
  EXPECT_THAT(ended, kAllWell);
  for (const RankState& state : table.ReadAll()) {
    EXPECT_EQ(TextOf(state.call), "exchange with neighbors");
    EXPECT_EQ(state.call.collective, 2);
    EXPECT_EQ(state.groups[0].collectives, 2);
  }
}

RankState In(const RankCall& call, int64_t number = 1) {
  RankState state;
  state.where = Whereabouts::kInCall;
  state.call = call;
  state.number = number;
  return state;
}
RankState Receives(int from, int64_t number = 1) {
  return In(ExchangeOf(kNobody, 0, from, 4), number);
}
RankState Sends(int to) { return In(ExchangeOf(to, 8, kNobody, 0)); }
RankState At(Whereabouts where, int64_t number = 0) {
  RankState state;
  state.where = where;
  state.number = number;
  return state;
}
/// In the second collective of all ranks, to which it came.
RankState InBarrier(int rank) {
  RankCall call =
      CollectiveOf(CallKind::kCollective, {.operation = Operation::kBarrier});
  call.collective = 2;
  RankState state = In(call);
  state.groups[0] = {kAllRanks, rank, 2};
  return state;
}
/// The same rank, with a place in a part of the ranks, where its call is.
RankState InPart(RankState state, int rank) {
  constexpr uint64_t kPart = 77;
  state.call.group = kPart;
  state.groups[1] = {kPart, rank, 0};
  return state;
}

const auto kEnded = At(Whereabouts::kEnded);
const auto kFree = At(Whereabouts::kBetweenCalls, 3);
const auto kAnyone = In(ReceiveAnyOf(4));

/// Ranks of which each waits for the next one, and the last for the first or
/// for nobody.
struct Chain {
  std::vector<int> ranks;
  bool is_cycle = false;
};
Chain Cycle(auto... ranks) { return {{ranks...}, /*is_cycle=*/true}; }
Chain Line(auto... ranks) { return {{ranks...}}; }

std::vector<RankState> States(auto... states) { return {states...}; }

struct Case {
  const char* name;
  std::vector<RankState> ranks;
  Chain chain;
  const char* says;
};

const Case kCases[] = {
    {"two receive from each other", States(Receives(1), Receives(0)),
     Cycle(0, 1), "; rank 0 waits for rank 1, which waits for rank 0"},
    {"a ring of three", States(Receives(2), Receives(0), Receives(1)),
     Cycle(0, 2, 1),
     "rank 0 waits for rank 2, which waits for rank 1, which waits for rank "
     "0"},
    {"two send to each other", States(Sends(1), Sends(0)), Cycle(0, 1),
     "rank 0 in send 8 bytes to rank 1 (call 1)"},
    {"one waits for two that wait for each other",
     States(Receives(1), Receives(2), Receives(1)), Cycle(1, 2),
     "rank 1 waits for rank 2, which waits for rank 1"},
    {"itself", States(kEnded, Receives(1)), Cycle(1),
     "rank 1 waits for itself"},
    {"one that has ended", States(Receives(1), Receives(2), kEnded),
     Line(0, 1, 2),
     "rank 2 has ended; rank 0 waits for rank 1, which waits for rank 2, "
     "which has ended"},
    {"one in no call", States(Receives(1), kFree), Line(0, 1),
     "rank 1 in no call behind its call 3; rank 0 waits for rank 1, which is "
     "in no call"},
    {"one that has not begun", States(Receives(1), RankState()), Line(0, 1),
     "rank 0 waits for rank 1, which has not begun"},
    {"who waits for ever goes before who may be answered",
     States(Receives(1), kFree, Receives(3), Receives(2)), Cycle(2, 3),
     "rank 2 waits for rank 3, which waits for rank 2"},
    {"who waits for one that has ended goes before who may be answered",
     States(Receives(1), kFree, Receives(3), kEnded), Line(2, 3),
     "rank 2 waits for rank 3, which has ended"},
    {"a barrier against a receive",
     States(InBarrier(0), Receives(0), InBarrier(2)), Cycle(0, 1),
     "rank 0 in barrier (call 1)"},
    {"a barrier that all have come to", States(InBarrier(0), InBarrier(1)),
     Line(), "rank 0 in barrier (call 1); rank 1 in barrier (call 1)"},
    {"anybody, of whom one may come", States(kAnyone, Receives(0), kFree),
     Line(0, 2), "rank 0 waits for rank 2, which is in no call"},
    {"anybody, of whom none can", States(kAnyone, Receives(0)), Cycle(0, 1),
     "rank 0 in receive 4 bytes from anybody (call 1)"},
    {"a rank of a part, which is another one among all",
     States(kFree, InPart(Receives(1), 0), InPart(Receives(0), 1)), Cycle(1, 2),
     "rank 1 in receive 4 bytes from rank 1 in a part of the ranks (call 1)"},
    {"no rank", States(Receives(7)), Line(), "from rank 7 (call 1)"},
    {"nobody is in a call", States(kEnded, kFree), Line(), "rank 0 has ended"},
};

// Kills: a cycle that is not found, or that includes ranks which lead to it; a
// rank that has ended, or is in no call, and is not named; a rank that may
// still come taken for one that cannot.
TEST(WaitReportTest, SaysWhoWaitsForWhom) {
  for (const Case& each : kCases) {
    const WaitReport report = ReportOf(each.ranks);
    EXPECT_EQ(report.chain, each.chain.ranks)
        << each.name << ": " << report.text;
    EXPECT_EQ(report.is_cycle, each.chain.is_cycle) << each.name;
    EXPECT_THAT(report.text, HasSubstr(each.says)) << each.name;
  }
}

TEST(WaitReportTest, HasTheNumberOfACallAndItsAge) {
  RankState waits = Receives(1, /*number=*/7);
  waits.since_us = 5'000'000;
  EXPECT_EQ(ReportOf(std::vector{waits, kEnded}, 17'900'000).text,
            "rank 0 in receive 4 bytes from rank 1 (call 7, for 12 s); rank 1 "
            "has ended; rank 0 waits for rank 1, which has ended");
}

TEST(WaitReportTest, NamesAsManyRanksAsOneReads) {
  std::vector<RankState> ring;
  for (int rank = 0; rank < 20; ++rank)
    ring.push_back(Receives((rank + 1) % 20));
  const WaitReport report = ReportOf(ring);
  EXPECT_EQ(report.chain.size(), 20U);
  EXPECT_THAT(report.text, HasSubstr("rank 15 in receive"));
  EXPECT_THAT(report.text, Not(HasSubstr("rank 16 in receive")));
  EXPECT_THAT(report.text,
              HasSubstr("; and 4 more; rank 0 waits for rank 1, "));
  EXPECT_THAT(
      report.text,
      HasSubstr("rank 15, and so on over 4 more, which waits for rank 0"));
}

// Kills: a report of an earlier run of more ranks, or none where all wait
// outside of a run.
TEST(WaitReportTest, IsOfTheLastRunInTheFile) {
  const file::ScratchFolder folder;
  EXPECT_EQ(ReportIn(folder.path(), 0), "");
  CallTable table =
      CallTable::InFile(folder.path() / kCallsFile, /*ranks=*/3).value();
  EXPECT_EQ(ReportIn(folder.path(), 0), "no rank has begun");
  RankState state = kEnded;
  state.run = 1;
  state.ranks = 3;
  for (int rank = 0; rank < 3; ++rank) table.Write(rank, state);
  EXPECT_EQ(ReportIn(folder.path(), 0),
            "no rank is in a call; the last run has ended");
  RankState waits = Receives(1);
  waits.run = 2;
  waits.ranks = 2;
  table.Write(0, waits);
  EXPECT_EQ(ReportIn(folder.path(), 3'000'000),
            "rank 0 in receive 4 bytes from rank 1 (call 1, for 3 s); rank 1 "
            "has ended; rank 0 waits for rank 1, which has ended");
}

}  // namespace
}  // namespace assay::ranks
