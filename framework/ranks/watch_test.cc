// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/agreement.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Kills: traffic that counts what a rank sends to itself, or what nobody got.
TEST(WatchedEndpointTest, CountsWhatTheFormulaSays) {
  for (const Operation operation :
       {Operation::kAllReduce, Operation::kAllToAll}) {
    for (const Algorithm algorithm : AlgorithmsOf(operation)) {
      const Collective what{operation, algorithm, 6, 35, 0};
      std::array<Traffic, 6> sent;
      const auto ended = RunThreads(6, [&](Endpoint& mine) {
        WatchedEndpoint watched(mine);
        Tensor buffer =
            Tensor::Allocate(DType::kFloat64, {ElementsOf(what)}).value();
        const Status status =
            RunCollective(what, Reduction::kSum, watched, &buffer);
        sent[static_cast<size_t>(mine.rank())] = watched.sent();
        EXPECT_EQ(watched.counted().value(), (Counted{.sent = watched.sent()}));
        return status;
      });
      Traffic all;
      for (const Traffic& each : sent) {
        all.bytes += each.bytes;
        all.messages += each.messages;
      }
      const Cost cost = CostOf(what).value();
      EXPECT_EQ(all, (Traffic{8 * cost.elements, cost.messages}))
          << ToString(what);
    }
  }
}

TEST(WatchedEndpointTest, KeepsTheLastExchanges) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    WatchedEndpoint watched(mine, /*kept=*/2);
    std::array<std::byte, 4> out = {};
    std::array<std::byte, 4> in = {};
    const int other = 1 - mine.rank();
    EXPECT_TRUE(watched.Exchange(other, out, other, in).ok());
    if (mine.rank() == 1) return OkStatus();
    EXPECT_TRUE(watched.Exchange(other, out, kNobody, {}).ok());
    const Status alone = watched.Exchange(kNobody, {}, other, in);
    EXPECT_FALSE(alone.ok());
    EXPECT_THAT(watched.Last(), ElementsAre("2: 4 bytes to 1: done",
                                            "3: 4 bytes from 1: failed"));
    EXPECT_EQ(watched.sent(), (Traffic{8, 2}));
    return OkStatus();
  });
  EXPECT_TRUE(ended[0].ok());
}

TEST(CheckAlikeTest, HoldsWhereAllDoTheSame) {
  const auto ended = RunThreads(5, [](Endpoint& mine) {
    // Each its own root, which an all-reduce has none of.
    const Call call{.number = 3,
                    .what = {.ranks = 5, .count = 2, .root = mine.rank()},
                    .type = DType::kFloat32};
    return CheckAlike(call, mine);
  });
  for (const Status& status : ended) EXPECT_TRUE(status.ok());
}

// Kills: a rank that is ahead, has another type, or another length, and is not seen.
TEST(CheckAlikeTest, NamesTheFirstThatIsNotAsRankZero) {
  const Call wanted{
      .number = 4, .what = {.ranks = 3, .count = 2}, .type = DType::kFloat32};
  std::vector<Call> others(4, wanted);
  others[0].number = 5;
  others[1].what.count = 3;
  others[2].type = DType::kFloat64;
  others[3].reduction = Reduction::kMax;
  for (const Call& other : others) {
    const auto ended = RunThreads(3, [&](Endpoint& mine) {
      return CheckAlike(mine.rank() == 2 ? other : wanted, mine);
    });
    for (const Status& status : ended) {
      EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(),
                  HasSubstr("rank 0 is at collective 4, allreduce/linear, 3 "
                            "ranks, 2 elements, sum of float32; rank 2 at "));
    }
  }
}

}  // namespace
}  // namespace assay::ranks
