// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/thread_neighbors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/threads/choices.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Property;

const auto kAllWell = Each(Property(&Status::ok, true));

/// Two blocks go to the next rank and one between them stays; of 2 ranks or
/// more.
Status ExchangeTwice(Endpoint& mine) {
  const int own = mine.rank();
  const int next = (own + 1) % mine.size();
  const int last = (own + mine.size() - 1) % mine.size();
  ASSAY_ASSIGN_OR_RETURN(
      const auto neighbors,
      mine.Connect(std::array{next, own, next}, std::array{last, last, own}));
  for (const int round : {0, 1}) {
    const auto sent = [&](int rank, int i) {
      return 100 * round + 10 * rank + i;
    };
    std::array<int, 6> out{}, in{};
    for (int i = 0; i < 6; ++i) out[static_cast<size_t>(i)] = sent(own, i);
    ASSAY_RETURN_IF_ERROR(neighbors->Exchange(
        std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in))));
    const std::array wanted = {sent(last, 0), sent(last, 1), sent(last, 4),
                               sent(last, 5), sent(own, 2),  sent(own, 3)};
    if (in == wanted) continue;
    const auto at = std::ranges::mismatch(in, wanted);
    return DataLoss("round ", round, ": found ", *at.in1, ", wanted ", *at.in2);
  }
  return OkStatus();
}

// Kills: blocks in another order than the lists; exchanges, or groups, whose
// messages meet.
TEST(ThreadNeighborsTest, BlocksAreInTheOrderOfTheLists) {
  const auto rank = [](Endpoint& mine) -> Status {
    ASSAY_RETURN_IF_ERROR(ExchangeTwice(mine));
    ASSAY_ASSIGN_OR_RETURN(const auto turned, mine.Split(0, -mine.rank()));
    ASSAY_RETURN_IF_ERROR(ExchangeTwice(*turned));
    return ExchangeTwice(mine);
  };
  for (const int ranks : {2, 3, 5, 8}) {
    EXPECT_THAT(RunThreads(ranks, rank), kAllWell) << ranks;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      DrawnChoices choices(seed);
      EXPECT_THAT(RunThreads(ranks, rank, &choices), kAllWell) << seed;
    }
  }
}

/// While a sum of all ranks is under way.
Status ExchangeInASum(Endpoint& mine) {
  const int32_t own = mine.rank() + 1;
  int32_t sum = 0;
  ASSAY_ASSIGN_OR_RETURN(
      const auto pending,
      mine.Start({.operation = Operation::kAllReduce,
                  .reduction = Reduction::kSum,
                  .type = DType::kInt32,
                  .count = 1,
                  .root = 0,
                  .in = std::as_bytes(std::span(&own, 1)),
                  .out = std::as_writable_bytes(std::span(&sum, 1))}));
  ASSAY_RETURN_IF_ERROR(ExchangeTwice(mine));
  ASSAY_RETURN_IF_ERROR(pending->Wait());
  const int wanted = mine.size() * (mine.size() + 1) / 2;
  if (sum == wanted) return OkStatus();
  return DataLoss("found the sum ", sum, ", wanted ", wanted);
}

// Kills: a list that takes the messages of a collective.
TEST(ThreadNeighborsTest, AnExchangeAndASumUnderWayDoNotMeet) {
  for (const int ranks : {2, 3, 5, 8}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      DrawnChoices choices(seed);
      EXPECT_THAT(RunThreads(ranks, ExchangeInASum, &choices), kAllWell)
          << ranks << ", " << seed;
    }
  }
}

/// An exchange of one rank with itself, in memory of so many bytes.
Status ExchangeAlone(Endpoint& mine, std::vector<int> to, std::vector<int> from,
                     size_t out_bytes, size_t in_bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(to, from));
  const std::vector<std::byte> out(out_bytes);
  std::vector<std::byte> in(in_bytes);
  return neighbors->Exchange(out, in);
}

TEST(ThreadNeighborsTest, MemoryFitsTheLists) {
  const struct {
    std::vector<int> to, from;
    size_t out, in;
    const char* says;  // empty: it goes well
  } rows[] = {
      {{0, 0}, {0, 0}, 8, 8, ""},
      {{0, 0}, {0, 0}, 0, 0, ""},
      {{}, {}, 0, 0, ""},
      {{0, 0}, {0, 0}, 7, 8, "found 7 bytes to 2 neighbors and 8 from 2"},
      {{0, 0}, {0, 0}, 8, 6, "found 8 bytes to 2 neighbors and 6 from 2"},
      {{}, {}, 1, 0, "found 1 bytes to 0 neighbors and 0 from 0"},
      {{}, {}, 0, 1, "found 0 bytes to 0 neighbors and 1 from 0"},
      {{0, 1}, {0}, 8, 4, "found the rank 1, wanted one below 1"},
      {{0}, {-1}, 4, 4, "found the rank -1, wanted one below 1"},
  };
  for (const auto& row : rows) {
    const auto ended = RunThreads(1, [&](Endpoint& mine) {
      return ExchangeAlone(mine, row.to, row.from, row.out, row.in);
    });
    EXPECT_EQ(ended[0].ok(), *row.says == '\0') << ended[0].message();
    EXPECT_THAT(ended[0].message(), HasSubstr(row.says));
  }
}

/// Each of two ranks sends the other a block of another length.
Status ExchangeUnevenly(Endpoint& mine) {
  const std::array other = {1 - mine.rank()};
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(other, other));
  const std::vector<std::byte> out(mine.rank() == 0 ? 4 : 2);
  std::vector<std::byte> in(out.size());
  return neighbors->Exchange(out, in);
}

Status ExchangeButRankTwo(Endpoint& mine) {
  const std::array to = {(mine.rank() + 1) % 3};
  const std::array from = {(mine.rank() + 2) % 3};
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(to, from));
  std::byte out{}, in{};
  return mine.rank() == 2
             ? OkStatus()
             : neighbors->Exchange(std::span(&out, 1), std::span(&in, 1));
}

TEST(ThreadNeighborsTest, BlocksAreEquallyLongAndAllRanksCome) {
  const auto uneven = RunThreads(2, ExchangeUnevenly);
  EXPECT_THAT(uneven[0].message(),
              HasSubstr("rank 0: found 2 bytes from the neighbor 1, wanted 4"));
  EXPECT_EQ(uneven[0].code(), StatusCode::kDataLoss);
  const auto stands = RunThreads(3, ExchangeButRankTwo);
  EXPECT_THAT(stands[0].message(), HasSubstr("rank 2, which has ended"));
  EXPECT_TRUE(stands[1].ok()) << stands[1].message();
}

TEST(ThreadNeighborsTest, ThreadsHaveNoCommunicatorOfALibrary) {
  const auto ended = RunThreads(2, [](Endpoint& mine) -> Status {
    EXPECT_EQ(mine.native_handle(), nullptr);
    ASSAY_ASSIGN_OR_RETURN(const auto part, mine.Split(0, 0));
    EXPECT_EQ(part->native_handle(), nullptr);
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell);
}

}  // namespace
}  // namespace assay::ranks
