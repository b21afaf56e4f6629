// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/synchronous_endpoint.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

/// Sends, and then receives.
Status SendFirst(Endpoint& mine) {
  const int other = 1 - mine.rank();
  const std::array<std::byte, 4> out = {};
  std::array<std::byte, 4> in = {};
  ASSAY_RETURN_IF_ERROR(mine.Exchange(other, out, kNobody, {}));
  return mine.Exchange(kNobody, {}, other, in);
}

Status SendAndReceive(Endpoint& mine) {
  const int size = mine.size();
  const std::array<std::byte, 4> out = {};
  std::array<std::byte, 4> in = {};
  return mine.Exchange((mine.rank() + 1) % size, out,
                       (mine.rank() + size - 1) % size, in);
}

Status ReceiveFromAll(Endpoint& mine) {
  std::array<std::byte, 4> bytes = {};
  if (mine.rank() > 0) return mine.Exchange(0, bytes, kNobody, {});
  for (int i = 1; i < mine.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(mine.ReceiveAny(bytes).status());
  }
  return OkStatus();
}

Status SendFirstInHalves(Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() / 2, 0));
  return SendFirst(*half);
}

// Kills: a message that is sent before it is received, in a part of the ranks, too; one that
// nobody says was received.
TEST(SynchronousEndpointTest, WhatNeedsRoomStandsStill) {
  const struct {
    const char* name;
    Status (*rank)(Endpoint& mine);
    bool needs_room;
  } rows[] = {
      {"all send first", SendFirstInHalves, true},
      {"a ring that sends and receives at once", SendAndReceive, false},
      {"one receives from all", ReceiveFromAll, false},
  };
  for (const auto& row : rows) {
    for (const bool is_synchronous : {false, true}) {
      const auto ended = RunThreads(4, [&](Endpoint& mine) -> Status {
        if (!is_synchronous) return row.rank(mine);
        ASSAY_ASSIGN_OR_RETURN(const auto endpoint,
                               SynchronousEndpoint::Of(mine));
        return row.rank(*endpoint);
      });
      const StatusCode wanted = is_synchronous && row.needs_room
                                    ? StatusCode::kFailedPrecondition
                                    : StatusCode::kOk;
      for (const Status& status : ended) {
        EXPECT_EQ(status.code(), wanted) << row.name << status.message();
      }
    }
  }
}

}  // namespace
}  // namespace assay::ranks
