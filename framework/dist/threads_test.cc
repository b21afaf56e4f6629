// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/dist/collective.h"
#include "framework/dist/endpoint.h"
#include "framework/dist/together.h"

namespace assay::dist {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Property;

/// A buffer of random numbers for each rank, alike each time.
std::vector<Tensor> Buffers(const Collective& what) {
  core::Numbers numbers(5);
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < what.ranks; ++rank) {
    std::vector<float> buffer;
    for (int64_t i = 0; i < ElementsOf(what); ++i) {
      buffer.push_back(static_cast<float>(numbers.Share() - 0.5));
    }
    buffers.push_back(
        Tensor::Of<float>({std::ssize(buffer)}, std::span<const float>(buffer))
            .value());
  }
  return buffers;
}

std::vector<float> NumbersOf(const std::vector<Tensor>& buffers) {
  std::vector<float> all;
  for (const Tensor& buffer : buffers) {
    const auto elements = buffer.elements<float>();
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

// Kills: a transport that loses, doubles or mixes up messages.
TEST(RunThreadsTest, HasTheBitsOfOneThread) {
  for (const Operation operation :
       {Operation::kBarrier, Operation::kBroadcast, Operation::kReduce,
        Operation::kAllReduce, Operation::kGather, Operation::kScatter,
        Operation::kAllGather, Operation::kReduceScatter,
        Operation::kAllToAll}) {
    for (const Algorithm algorithm : AlgorithmsOf(operation)) {
      for (const int ranks : {1, 2, 3, 7, 8}) {
        const Collective what{operation, algorithm, ranks, 29, ranks - 1};
        std::vector<Tensor> buffers = Buffers(what);
        const std::vector<Status> ended =
            RunThreads(ranks, [&](Endpoint& mine) {
              return RunCollective(what, Reduction::kSum, mine,
                                   &buffers[static_cast<size_t>(mine.rank())]);
            });
        EXPECT_THAT(ended, Each(Property(&Status::ok, true)));
        std::vector<Tensor> wanted = Buffers(what);
        std::vector<Schedule> schedules;
        for (int rank = 0; rank < ranks; ++rank) {
          schedules.push_back(ScheduleOf(what, rank).value());
        }
        ASSERT_TRUE(RunTogether(schedules, wanted, {}).ok());
        EXPECT_EQ(NumbersOf(buffers), NumbersOf(wanted)) << ToString(what);
      }
    }
  }
}

Status ReceiveOne(Endpoint& mine, int from) {
  std::array<std::byte, 4> came = {};
  return mine.Exchange(kNobody, {}, from, came);
}

// Kills: ranks that wait for each other for ever.
TEST(RunThreadsTest, SaysWhoWaitsForWhom) {
  const std::vector<Status> ended = RunThreads(3, [](Endpoint& mine) {
    if (mine.rank() == 2) return OkStatus();
    return ReceiveOne(mine, mine.rank() == 0 ? 1 : 2);
  });
  EXPECT_TRUE(ended[2].ok());
  for (const int rank : {0, 1}) {
    const Status& status = ended[static_cast<size_t>(rank)];
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(),
                HasSubstr("ranks stand still: rank 0 waits for rank 1; rank 1 "
                          "waits for rank 2, which has ended"));
  }
}

TEST(RunThreadsTest, AFailedRankEndsThoseThatWaitForIt) {
  const std::vector<Status> ended = RunThreads(3, [](Endpoint& mine) {
    if (mine.rank() == 1) return Internal("no memory");
    return ReceiveOne(mine, 1);
  });
  EXPECT_EQ(ended[1].code(), StatusCode::kInternal);
  EXPECT_EQ(ended[0].code(), StatusCode::kCancelled);
  EXPECT_THAT(ended[2].message(), HasSubstr("rank 1 failed: no memory"));
}

TEST(RunThreadsTest, MessagesFitAndGoToRanks) {
  const std::vector<Status> ended = RunThreads(2, [](Endpoint& mine) {
    if (mine.rank() == 1) return ReceiveOne(mine, 0);
    const std::array<std::byte, 2> out = {};
    return mine.Exchange(1, out, kNobody, {});
  });
  EXPECT_THAT(ended[1].message(),
              HasSubstr("rank 1: found 2 bytes from rank 0, wanted 4"));
  const auto alone =
      RunThreads(1, [](Endpoint& mine) { return ReceiveOne(mine, 3); });
  EXPECT_THAT(alone[0].message(),
              HasSubstr("found the rank 3, wanted one below 1"));
}

TEST(RunCollectiveTest, FitsItsEndpointAndItsBuffer) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    Tensor buffer = Tensor::Allocate(DType::kFloat32, {3}).value();
    const Collective three{.ranks = 3, .count = 3};
    const Status ranks = RunCollective(three, Reduction::kSum, mine, &buffer);
    EXPECT_THAT(ranks.message(),
                HasSubstr("found a collective of 3 ranks, wanted one of 2"));
    const Collective four{.ranks = 2, .count = 4};
    return RunCollective(four, Reduction::kSum, mine, &buffer);
  });
  EXPECT_THAT(ended[0].message(),
              HasSubstr("found a buffer of 3 elements for allreduce/linear, 2 "
                        "ranks, 4 elements, wanted 4"));
}

}  // namespace
}  // namespace assay::dist
