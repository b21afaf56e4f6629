// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/straggler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/delayed_endpoint.h"
#include "framework/ranks/wait/noted_endpoint.h"

namespace assay::ranks {
namespace {

// Kills: the rank that waits most in place of the one that it waits for.
TEST(StragglerTest, IsTheOneThatWaitsLeast) {
  const struct {
    std::vector<int64_t> waited_us;
    int rank;
    int64_t late_us;
  } rows[] = {
      {{5200, 100, 5000}, 1, 4900}, {{0, 7}, 0, 7},    {{9, 9, 9, 2}, 3, 7},
      {{3, 3, 8}, kNobody, 0},      {{4}, kNobody, 0}, {{}, kNobody, 0},
  };
  for (const auto& row : rows) {
    const Straggler found = StragglerOf(row.waited_us);
    EXPECT_EQ(found.rank, row.rank);
    EXPECT_EQ(found.late_us, row.late_us);
  }
}

/// Waits until all ranks but one are in that call of theirs.
void AwaitOthers(const CallTable& table, int but, int64_t call) {
  for (int rank = 0; rank < table.ranks(); ++rank) {
    while (rank != but) {
      const RankState state = table.Read(rank);
      if (state.where == Whereabouts::kInCall && state.number == call) break;
      std::this_thread::yield();
    }
  }
}

// The clock goes on by the delays alone, while the others wait.
TEST(StragglerTest, ADelayedRankIsFoundByWhatTheOthersWait) {
  constexpr int kLate = 2;
  constexpr int kCalls = 5;
  constexpr int64_t kDelay = 400;
  CallTable table = CallTable::InMemory(4);
  std::atomic<int64_t> now = 0;
  const Delays delays{
      .straggler = kLate, .law = DelayLaw::kConstant, .most_us = kDelay};
  const auto ended = RunThreads(4, [&](Endpoint& mine) -> Status {
    NotedEndpoint noted(mine, &table, /*run=*/1, [&] { return now.load(); });
    int64_t call = 0;
    ASSAY_ASSIGN_OR_RETURN(const auto delayed,
                           DelayedEndpoint::Of(noted, delays, [&](int64_t us) {
                             AwaitOthers(table, kLate, ++call);
                             now += us;
                           }));
    for (int i = 0; i < kCalls; ++i) {
      ASSAY_RETURN_IF_ERROR(
          delayed->Collect({.operation = Operation::kBarrier}));
    }
    return OkStatus();
  });
  std::vector<int64_t> waited_us;
  for (const RankState& state : table.ReadAll()) {
    waited_us.push_back(state.waited_us);
  }
  for (const Status& status : ended) EXPECT_TRUE(status.ok());
  EXPECT_EQ(StragglerOf(waited_us).rank, kLate);
  EXPECT_EQ(StragglerOf(waited_us).late_us, kCalls * kDelay);
}

}  // namespace
}  // namespace assay::ranks
