// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/wait_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/rank_call.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

struct Case {
  const char* name;
  std::vector<RankState> ranks;
  std::vector<int> chain;
  bool is_cycle;
  const char* says;
};

const Case kCases[] = {
    {"two receive from each other",
     {Receives(1), Receives(0)},
     {0, 1},
     true,
     "; rank 0 waits for rank 1, which waits for rank 0"},
    {"a ring of three",
     {Receives(2), Receives(0), Receives(1)},
     {0, 2, 1},
     true,
     "rank 0 waits for rank 2, which waits for rank 1, which waits for rank "
     "0"},
    {"two send to each other",
     {Sends(1), Sends(0)},
     {0, 1},
     true,
     "rank 0 in send 8 bytes to rank 1 (call 1)"},
    {"one waits for two that wait for each other",
     {Receives(1), Receives(2), Receives(1)},
     {1, 2},
     true,
     "rank 1 waits for rank 2, which waits for rank 1"},
    {"itself", {kEnded, Receives(1)}, {1}, true, "rank 1 waits for itself"},
    {"one that has ended",
     {Receives(1), Receives(2), kEnded},
     {0, 1, 2},
     false,
     "rank 2 has ended; rank 0 waits for rank 1, which waits for rank 2, "
     "which has ended"},
    {"one in no call",
     {Receives(1), kFree},
     {0, 1},
     false,
     "rank 1 in no call behind its call 3; rank 0 waits for rank 1, which is "
     "in no call"},
    {"one that has not begun",
     {Receives(1), RankState()},
     {0, 1},
     false,
     "rank 0 waits for rank 1, which has not begun"},
    {"who waits for ever goes before who may be answered",
     {Receives(1), kFree, Receives(3), Receives(2)},
     {2, 3},
     true,
     "rank 2 waits for rank 3, which waits for rank 2"},
    {"who waits for one that has ended goes before who may be answered",
     {Receives(1), kFree, Receives(3), kEnded},
     {2, 3},
     false,
     "rank 2 waits for rank 3, which has ended"},
    {"a barrier against a receive",
     {InBarrier(0), Receives(0), InBarrier(2)},
     {0, 1},
     true,
     "rank 0 in barrier (call 1)"},
    {"a barrier that all have come to",
     {InBarrier(0), InBarrier(1)},
     {},
     false,
     "rank 0 in barrier (call 1); rank 1 in barrier (call 1)"},
    {"anybody, of whom one may come",
     {kAnyone, Receives(0), kFree},
     {0, 2},
     false,
     "rank 0 waits for rank 2, which is in no call"},
    {"anybody, of whom none can",
     {kAnyone, Receives(0)},
     {0, 1},
     true,
     "rank 0 in receive 4 bytes from anybody (call 1)"},
    {"a rank of a part, which is another one among all",
     {kFree, InPart(Receives(1), 0), InPart(Receives(0), 1)},
     {1, 2},
     true,
     "rank 1 in receive 4 bytes from rank 1 in a part of the ranks (call 1)"},
    {"no rank", {Receives(7)}, {}, false, "from rank 7 (call 1)"},
    {"nobody is in a call", {kEnded, kFree}, {}, false, "rank 0 has ended"},
};

// Kills: a cycle that is not found, or that includes ranks which lead to it; a
// rank that has ended, or is in no call, and is not named; a rank that may
// still come taken for one that cannot.
TEST(WaitReportTest, SaysWhoWaitsForWhom) {
  for (const Case& each : kCases) {
    const WaitReport report = ReportOf(each.ranks);
    EXPECT_EQ(report.chain, each.chain) << each.name << ": " << report.text;
    EXPECT_EQ(report.is_cycle, each.is_cycle) << each.name;
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

// Kills: a report of ranks that have ended, or of an earlier run of more ranks.
TEST(WaitReportTest, IsOfTheLastRunInTheFile) {
  const file::ScratchFolder folder;
  EXPECT_EQ(ReportIn(folder.path(), 0), "");
  CallTable table =
      CallTable::InFile(folder.path() / kCallsFile, /*ranks=*/3).value();
  RankState state = kEnded;
  state.run = 1;
  state.ranks = 3;
  for (int rank = 0; rank < 3; ++rank) table.Write(rank, state);
  EXPECT_EQ(ReportIn(folder.path(), 0), "");
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
