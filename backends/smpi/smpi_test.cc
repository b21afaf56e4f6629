// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/backend/registry.h"

namespace assay::smpi {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<RankEnd> EndsOf(int count,
                            const std::function<Status(Endpoint&)>& rank) {
  static const std::unique_ptr<Backend> backend = [] {
    EXPECT_TRUE(LoadBackendModule(ASSAY_SMPI_MODULE).ok());
    return MakeBackend("smpi").value();
  }();
  Ranks* const ranks = backend->ranks({}).value();
  return ranks->Run(count, rank).value();
}

Status Barrier(Endpoint& mine) {
  return mine.Collect({.operation = Operation::kBarrier});
}

int64_t LinesOf(const char* file) {
  std::ifstream in(file);
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

TEST(SmpiTest, AThousandRanksAddUp) {
  const std::vector<RankEnd> ended = EndsOf(1024, [](Endpoint& mine) -> Status {
    const int64_t own = mine.rank();
    int64_t sum = 0;
    ASSAY_RETURN_IF_ERROR(
        mine.Collect({.type = DType::kInt64,
                      .count = 1,
                      .in = std::as_bytes(std::span(&own, 1)),
                      .out = std::as_writable_bytes(std::span(&sum, 1))}));
    return sum == 1023 * 512 ? OkStatus() : Internal("found ", sum);
  });
  ASSERT_EQ(ended.size(), 1024U);
  for (const RankEnd& end : ended) {
    EXPECT_TRUE(end.status.ok()) << end.rank << ": " << end.status.message();
  }
}

TEST(SmpiTest, RanksThatStandStillAreNamedAndTheNextOnesRun) {
  const std::vector<RankEnd> ended = EndsOf(3, [](Endpoint& mine) -> Status {
    std::byte byte{};
    if (mine.rank() == 2) return OkStatus();
    if (mine.rank() == 0) return Barrier(mine);
    return mine.Exchange(kNobody, {}, 0, std::span(&byte, 1));
  });
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended[0].status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ended[1].status.message(),
              AllOf(HasSubstr("rank 0 waits in barrier"),
                    HasSubstr("rank 1 waits for rank 0")));
  EXPECT_TRUE(ended[2].status.ok());
  for (const RankEnd& end : EndsOf(3, Barrier)) EXPECT_TRUE(end.status.ok());
}

TEST(SmpiTest, AMessageHasNoRoom) {
  const std::vector<RankEnd> ended = EndsOf(2, [](Endpoint& mine) -> Status {
    const int other = 1 - mine.rank();
    std::byte out{}, in{};
    ASSAY_RETURN_IF_ERROR(
        mine.Exchange(other, std::span(&out, 1), kNobody, {}));
    return mine.Exchange(kNobody, {}, other, std::span(&in, 1));
  });
  EXPECT_THAT(ended[0].status.message(),
              AllOf(HasSubstr("rank 0 waits for rank 1 to receive"),
                    HasSubstr("rank 1 waits for rank 0 to receive")));
}

TEST(SmpiTest, TheOthersOfARankThatFailedAreCancelled) {
  const std::vector<RankEnd> ended = EndsOf(2, [](Endpoint& mine) {
    return mine.rank() == 1 ? Internal("broken") : Barrier(mine);
  });
  EXPECT_EQ(ended[0].status.code(), StatusCode::kCancelled);
  EXPECT_THAT(ended[0].status.message(), HasSubstr("rank 1: broken"));
}

TEST(SmpiTest, RunsLeaveNoMemoryMapped) {
  EndsOf(16, Barrier);
  const int64_t before = LinesOf("/proc/self/maps");
  for (int i = 0; i < 50; ++i) EndsOf(16, Barrier);
  // A rank that is kept has its stack and the guard of it.
  EXPECT_LT(LinesOf("/proc/self/maps"), before + 50 * 16);
}

TEST(SmpiTest, SignalsStayTheProcess) {
  struct sigaction handler {};
  EndsOf(1, Barrier);
  ASSERT_EQ(sigaction(SIGINT, nullptr, &handler), 0);
  EXPECT_EQ(handler.sa_handler, SIG_DFL);
}

TEST(SmpiTest, MoreRanksThanThereAreAreDeclined) {
  EndsOf(1, Barrier);
  const std::unique_ptr<Backend> backend = MakeBackend("smpi").value();
  Ranks* const ranks = backend->ranks({}).value();
  EXPECT_EQ(ranks->Run(1025, Barrier).status().code(),
            StatusCode::kUnsupported);
  EXPECT_THAT(backend->ranks({{"mutant", "any"}}).status().message(),
              HasSubstr("found the setting mutant"));
}

}  // namespace
}  // namespace assay::smpi
