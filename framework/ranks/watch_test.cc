// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/watch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

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

// Kills: an exchange that is counted although it failed.
TEST(WatchedEndpointTest, CountsWhatWasSentAlone) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    WatchedEndpoint watched(mine);
    std::array<std::byte, 4> out = {};
    std::array<std::byte, 4> in = {};
    const int other = 1 - mine.rank();
    EXPECT_TRUE(watched.Exchange(other, out, other, in).ok());
    if (mine.rank() == 1) return OkStatus();
    EXPECT_TRUE(watched.Exchange(other, out, kNobody, {}).ok());
    EXPECT_FALSE(watched.Exchange(other, out, other, in).ok());
    EXPECT_EQ(watched.sent(), (Traffic{8, 2}));
    return OkStatus();
  });
  EXPECT_TRUE(ended[0].ok());
}

}  // namespace
}  // namespace assay::ranks
