// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/own.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/threads/choices.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Property;

const auto kAllWell = Each(Property(&Status::ok, true));

/// A sum of floats of its own memory.
struct Sum {
  std::array<float, 3> in = {}, out = {};

  CollectiveCall call() {
    return {.operation = Operation::kAllReduce,
            .reduction = Reduction::kSum,
            .type = DType::kFloat32,
            .count = 3,
            .root = 0,
            .in = std::as_bytes(std::span(in)),
            .out = std::as_writable_bytes(std::span(out))};
  }
};

TEST(OwnTest, ABufferFitsItsCollective) {
  Tensor buffer = Tensor::Allocate(DType::kFloat32, {7}).value();
  const Collective gather = {Operation::kGather, Algorithm::kLinear, 4, 2, 1};
  EXPECT_THAT(
      OwnCallOf(gather, Reduction::kSum, 1, &buffer).status().message(),
      HasSubstr("found a buffer of 7 elements for gather of 2 over 4 ranks, "
                "wanted 8"));
  buffer = Tensor::Allocate(DType::kFloat32, {8}).value();
  Collective beyond = gather;
  beyond.root = 4;
  EXPECT_EQ(OwnCallOf(beyond, Reduction::kSum, 1, &buffer).status().code(),
            StatusCode::kInvalidArgument);
  const CollectiveCall root =
      OwnCallOf(gather, Reduction::kSum, 1, &buffer).value();
  EXPECT_EQ(root.in.size(), 8U);
  EXPECT_EQ(root.out.size(), 32U);
  EXPECT_EQ(root.in.data(), root.out.data() + 8);
  EXPECT_TRUE(
      OwnCallOf(gather, Reduction::kSum, 2, &buffer).value().out.empty());
}

TEST(ThreadCallTest, MemoryFitsItsCollective) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    Sum sum;
    CollectiveCall call = sum.call();
    call.out = call.out.first(4);
    return mine.Collect(call);
  });
  for (const Status& each : ended) {
    EXPECT_EQ(each.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(each.message(), HasSubstr("12 bytes of input and 4 of output"));
  }
}

// Kills: a call whose messages another one takes, one that progresses only when
// it is waited for, and a rank that waits for the first alone.
TEST(ThreadCallTest, CallsAreWaitedForInAnyOrder) {
  const auto rank = [](Endpoint& mine) -> Status {
    std::array<Sum, 3> sums;
    std::vector<std::unique_ptr<Pending>> pending;
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].in.fill(static_cast<float>((i + 1) * 10) +
                      static_cast<float>(mine.rank()));
      ASSAY_ASSIGN_OR_RETURN(auto begun, mine.Start(sums[i].call()));
      pending.push_back(std::move(begun));
    }
    // A message between, which is none of theirs.
    const int next = (mine.rank() + 1) % mine.size();
    const int last = (mine.rank() + mine.size() - 1) % mine.size();
    std::array<std::byte, 12> in{};
    ASSAY_RETURN_IF_ERROR(
        mine.Exchange(next, std::as_bytes(std::span(sums[0].in)), last, in));
    for (size_t i = 0; i < pending.size(); ++i) {
      const size_t turn =
          (i + static_cast<size_t>(mine.rank())) % pending.size();
      ASSAY_RETURN_IF_ERROR(pending[turn]->Wait());
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto ranks = static_cast<float>(mine.size());
      const float wanted =
          ranks * static_cast<float>((i + 1) * 10) + ranks * (ranks - 1) / 2;
      for (const float each : sums[i].out) {
        if (each != wanted)
          return DataLoss("found ", each, ", wanted ", wanted);
      }
    }
    return OkStatus();
  };
  for (const int ranks : {1, 2, 3, 5, 8}) {
    EXPECT_THAT(RunThreads(ranks, rank), kAllWell) << ranks;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      DrawnChoices choices(seed);
      EXPECT_THAT(RunThreads(ranks, rank, &choices), kAllWell) << seed;
    }
  }
}

TEST(ThreadCallTest, ACallThatOthersDoNotComeToStandsStill) {
  const auto ended = RunThreads(3, [](Endpoint& mine) -> Status {
    if (mine.rank() == 2) return OkStatus();
    Sum sum;
    return mine.Collect(sum.call());
  });
  EXPECT_THAT(ended[0].message(), HasSubstr("rank 2, which has ended"));
}

// Kills: groups whose messages meet, and ranks in the order of the world.
TEST(SplitTest, GroupsAreAmongThemselves) {
  const auto ended = RunThreads(7, [](Endpoint& mine) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto group,
                           mine.Split(mine.rank() % 2, -mine.rank()));
    const int wanted_size = mine.rank() % 2 == 0 ? 4 : 3;
    const int wanted_rank = wanted_size - 1 - mine.rank() / 2;
    if (group->size() != wanted_size || group->rank() != wanted_rank) {
      return DataLoss("found rank ", group->rank(), " of ", group->size());
    }
    Sum sum;
    sum.in.fill(static_cast<float>(mine.rank()));
    ASSAY_RETURN_IF_ERROR(group->Collect(sum.call()));
    const float wanted = mine.rank() % 2 == 0 ? 12 : 9;
    if (sum.out[2] != wanted) return DataLoss("found the sum ", sum.out[2]);
    // A communicator of a communicator, and a message in it from anybody.
    ASSAY_ASSIGN_OR_RETURN(const auto one, group->Split(group->rank(), 0));
    if (one->size() != 1) return DataLoss("found ", one->size(), " ranks");
    const std::array<std::byte, 1> out{};
    std::array<std::byte, 1> in{};
    if (group->rank() > 0) return group->Exchange(0, out, kNobody, {});
    for (int i = 1; i < group->size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const int from, group->ReceiveAny(in));
      if (from < 1 || from >= group->size()) return DataLoss("from ", from);
    }
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell) << ended[0].message();
}

}  // namespace
}  // namespace assay::ranks
