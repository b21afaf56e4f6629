// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/message/summed_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

using ::testing::Each;
using ::testing::Property;

// The CRC-32 of "123456789" is its check value (R. Williams, "A painless guide
// to CRC error detection algorithms", 1993).
TEST(SummedEndpointTest, KeepsBothEndsOfAMessage) {
  constexpr uint32_t kCheck = 0xCBF43926;
  constexpr std::string_view kDigits = "123456789";
  std::vector<MessageSums> sums(2);
  const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
    SummedEndpoint summed(mine);
    std::array<std::byte, kDigits.size()> in = {};
    if (mine.rank() == 0) {
      const auto out = std::as_bytes(std::span(kDigits));
      ASSAY_RETURN_IF_ERROR(summed.Exchange(1, out, kNobody, {}));
      ASSAY_RETURN_IF_ERROR(summed.Exchange(1, {}, kNobody, {}));
    } else {
      ASSAY_RETURN_IF_ERROR(summed.ReceiveAny(in).status());
      ASSAY_RETURN_IF_ERROR(summed.Exchange(kNobody, {}, 0, {}));
    }
    sums[static_cast<size_t>(mine.rank())] = summed.sums();
    return OkStatus();
  });
  EXPECT_THAT(ended, Each(Property(&Status::ok, true)));
  EXPECT_TRUE(sums[0].received.empty());
  EXPECT_TRUE(sums[1].sent.empty());
  const std::vector<MessageSum>* const ends[] = {&sums[0].sent,
                                                 &sums[1].received};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ends[i]->size(), 2U);
    EXPECT_EQ(ends[i]->at(0).peer, i == 0 ? 1 : 0);
    EXPECT_EQ(ends[i]->at(0).sum, kCheck);
    EXPECT_EQ(ends[i]->at(0).bytes, kDigits.size());
    EXPECT_EQ(ends[i]->at(1).bytes, 0U);
  }
  EXPECT_EQ(CorruptMessage(sums), "");
}

// Kills: memory that grows with the length of a training.
TEST(SummedEndpointTest, KeepsTheFirstMessages) {
  RunThreads(1, [](Endpoint& mine) -> Status {
    SummedEndpoint summed(mine);
    for (size_t i = 0; i < SummedEndpoint::kMost + 10; ++i) {
      ASSAY_RETURN_IF_ERROR(summed.Exchange(0, {}, 0, {}));
    }
    EXPECT_EQ(summed.sums().sent.size(), SummedEndpoint::kMost);
    EXPECT_EQ(summed.sums().received.size(), SummedEndpoint::kMost);
    return OkStatus();
  });
}

// Kills: messages that are compared by sum or by length alone, with those of
// another rank, or in the order of all.
TEST(CorruptMessageTest, IsTheFirstOneBetweenTwoRanks) {
  // Rank 0 and rank 2 send two messages each to rank 1, which come in turns.
  std::vector<MessageSums> ranks(3);
  ranks[0].sent = {{1, 10, 4}, {1, 11, 4}};
  ranks[2].sent = {{1, 20, 4}, {0, 99, 4}, {1, 21, 4}};
  ranks[1].received = {{2, 20, 4}, {0, 10, 4}, {2, 21, 4}, {0, 11, 4}};
  EXPECT_EQ(CorruptMessage(ranks), "");
  std::vector<MessageSums> other_sum = ranks;
  other_sum[1].received[2].sum = 22;
  EXPECT_EQ(CorruptMessage(other_sum),
            "rank 1 received message 2 from rank 2 other than it was sent: "
            "found 4 bytes with the checksum 22, wanted 4 with 21");
  std::vector<MessageSums> shorter = ranks;
  shorter[1].received[1].bytes = 3;
  EXPECT_EQ(CorruptMessage(shorter),
            "rank 1 received message 1 from rank 0 other than it was sent: "
            "found 3 bytes with the checksum 10, wanted 4 with 10");
}

TEST(CorruptMessageTest, WhatOneOfTheRanksDidNotKeepIsNone) {
  std::vector<MessageSums> ranks(2);
  ranks[0].sent = {{1, 10, 4}};
  ranks[1].received = {{0, 10, 4}, {0, 11, 4}, {7, 1, 1}, {-1, 1, 1}};
  EXPECT_EQ(CorruptMessage(ranks), "");
}

}  // namespace
}  // namespace assay::ranks
