// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::ranks {
namespace {

std::vector<float> NumbersOf(const std::vector<Tensor>& buffers) {
  std::vector<float> all;
  for (const Tensor& buffer : buffers) {
    std::ranges::copy(buffer.elements<float>(), std::back_inserter(all));
  }
  return all;
}

/// A buffer of numbers for each rank, the same each time.
std::vector<Tensor> Buffers(const Collective& what) {
  core::Numbers numbers(5);
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < what.ranks; ++rank) {
    std::vector<float> buffer;
    for (int64_t i = 0; i < ElementsOf(what); ++i) {
      buffer.push_back(static_cast<float>(numbers.Share() - 0.5));
    }
    buffers.push_back(Floats(buffer));
  }
  return buffers;
}

// Kills: a transport that loses, doubles or mixes up messages.
TEST(RunThreadsTest, HasTheBitsOfOneThread) {
  for (const Operation operation : kOperations) {
    for (const Algorithm algorithm : AlgorithmsOf(operation)) {
      for (const int ranks : {1, 2, 3, 7, 8}) {
        const Collective what{operation, algorithm, ranks, 29, ranks - 1};
        const auto run_in = [&](std::vector<Tensor>& buffers,
                                Choices* choices) {
          return RunThreads(
              ranks,
              [&](Endpoint& mine) {
                return RunCollective(
                    what, Reduction::kSum, mine,
                    &buffers[static_cast<size_t>(mine.rank())]);
              },
              choices);
        };
        std::vector<Tensor> buffers = Buffers(what);
        EXPECT_THAT(run_in(buffers, nullptr), kAllWell);
        std::vector<Tensor> wanted = Buffers(what);
        std::vector<Schedule> schedules;
        for (int rank = 0; rank < ranks; ++rank) {
          schedules.push_back(ScheduleOf(what, rank).value());
        }
        ASSERT_TRUE(RunTogether(schedules, wanted, {}).ok());
        EXPECT_EQ(NumbersOf(buffers), NumbersOf(wanted)) << ToString(what);
        std::vector<Tensor> in_turns = Buffers(what);
        DrawnChoices drawn(static_cast<uint64_t>(ranks));
        EXPECT_THAT(run_in(in_turns, &drawn), kAllWell);
        EXPECT_EQ(NumbersOf(in_turns), NumbersOf(wanted)) << ToString(what);
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
    EXPECT_THAT(status,
                Says("ranks stand still: rank 0 waits for rank 1; rank 1 "
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
  EXPECT_THAT(ended[2], Says("rank 1 failed: no memory"));
}

TEST(RunThreadsTest, MessagesFitAndGoToRanks) {
  const std::vector<Status> ended = RunThreads(2, [](Endpoint& mine) {
    if (mine.rank() == 1) return ReceiveOne(mine, 0);
    const std::array<std::byte, 2> out = {};
    return mine.Exchange(1, out, kNobody, {});
  });
  EXPECT_THAT(ended[1], Says("rank 1: found 2 bytes from rank 0, wanted 4"));
  const auto alone =
      RunThreads(1, [](Endpoint& mine) { return ReceiveOne(mine, 3); });
  EXPECT_THAT(alone[0], Says("found the rank 3, wanted one below 1"));
}

// Kills: a rank that is counted what it sends to itself or gets, or whose
// groups have other counts.
TEST(RunThreadsTest, CountsWhatEachRankSends) {
  const auto ended = RunThreads(3, [](Endpoint& mine) -> Status {
    const std::array<std::byte, 5> out = {};
    std::array<std::byte, 5> in = {};
    const int rank = mine.rank();
    ASSAY_RETURN_IF_ERROR(mine.Exchange(rank, out, rank, in));
    ASSAY_RETURN_IF_ERROR(mine.Exchange(rank == 0 ? 1 : kNobody, out,
                                        rank == 1 ? 0 : kNobody, in));
    EXPECT_EQ(mine.counted().value().sent,
              rank == 0 ? (Traffic{5, 1}) : Traffic());
    ASSAY_ASSIGN_OR_RETURN(const auto part, mine.Split(0, -rank));
    Counted wanted = mine.counted().value();
    // By dissemination: an empty message in each of two rounds.
    ASSAY_RETURN_IF_ERROR(part->Collect({.operation = Operation::kBarrier}));
    wanted.sent.messages += 2;
    EXPECT_EQ(part->counted().value(), wanted);
    EXPECT_EQ(mine.counted().value(), wanted);
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell);
}

TEST(RunCollectiveTest, FitsItsEndpointAndItsBuffer) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    Tensor buffer = Tensor::Allocate(DType::kFloat32, {3}).value();
    const Collective three{.ranks = 3, .count = 3};
    const Status ranks = RunCollective(three, Reduction::kSum, mine, &buffer);
    EXPECT_THAT(ranks, Says("found a collective of 3 ranks, wanted one of 2"));
    const Collective four{.ranks = 2, .count = 4};
    return RunCollective(four, Reduction::kSum, mine, &buffer);
  });
  EXPECT_THAT(ended[0],
              Says("found a buffer of 3 elements for allreduce/linear, 2 "
                   "ranks, 4 elements, wanted 4"));
}

/// Each other rank sends rank 0 so many messages of a byte. Returns whose came,
/// in their order.
std::string Arrivals(int ranks, int messages, Choices* choices) {
  std::string order;
  const auto ended = RunThreads(
      ranks,
      [&](Endpoint& mine) {
        std::array<std::byte, 1> byte = {};
        const int turns =
            mine.rank() == 0 ? messages * (mine.size() - 1) : messages;
        for (int i = 0; i < turns; ++i) {
          if (mine.rank() != 0) {
            ASSAY_RETURN_IF_ERROR(mine.Exchange(0, byte, kNobody, {}));
            continue;
          }
          ASSAY_ASSIGN_OR_RETURN(const int from, mine.ReceiveAny(byte));
          order += static_cast<char>('0' + from);
        }
        return OkStatus();
      },
      choices);
  EXPECT_THAT(ended, kAllWell);
  return order;
}

// Kills: an order that a seed does not give again, or that every seed gives.
TEST(DrawnChoicesTest, ASeedIsAnOrder) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    DrawnChoices first(seed);
    DrawnChoices again(seed);
    const std::string order = Arrivals(3, 2, &first);
    EXPECT_EQ(Arrivals(3, 2, &again), order);
    orders.insert(order);
  }
  // Two of each in any order: 4! / (2! 2!).
  EXPECT_EQ(orders.size(), 6U);
}

// Kills: a way that is left out, or taken twice.
TEST(ListedChoicesTest, EveryOrderComesOnce) {
  std::multiset<std::string> orders;
  ListedChoices listed;
  do {
    orders.insert(Arrivals(4, 2, &listed));
  } while (listed.GoOn());
  // 6! / (2! 2! 2!).
  EXPECT_EQ(orders.size(), 90U);
  EXPECT_EQ(std::set(orders.begin(), orders.end()).size(), 90U);
}

// Kills: an answer that is chosen before another rank could have given one.
TEST(ListedChoicesTest, WaitsForThoseThatCouldStillSend) {
  std::set<int> firsts;
  ListedChoices listed;
  do {
    const auto ended = RunThreads(
        3,
        [&](Endpoint& mine) {
          std::array<std::byte, 1> byte = {};
          // Rank 2 sends to rank 0 once rank 1 has.
          if (mine.rank() == 1) {
            ASSAY_RETURN_IF_ERROR(mine.Exchange(0, byte, kNobody, {}));
            return mine.Exchange(2, byte, kNobody, {});
          }
          if (mine.rank() == 2) {
            ASSAY_RETURN_IF_ERROR(mine.Exchange(kNobody, {}, 1, byte));
            return mine.Exchange(0, byte, kNobody, {});
          }
          ASSAY_ASSIGN_OR_RETURN(const int first, mine.ReceiveAny(byte));
          firsts.insert(first);
          return mine.ReceiveAny(byte).status();
        },
        &listed);
    EXPECT_THAT(ended, kAllWell);
  } while (listed.GoOn());
  EXPECT_EQ(firsts, (std::set{1, 2}));
}

// Rank 2 asks rank 0 and then rank 1, and rank 3 asks them the other way
// around. Kills: of two ranks that wait for anybody the same one is always
// answered first.
TEST(ListedChoicesTest, ChoosesWhoOfTwoIsAnsweredFirst) {
  std::set<std::string> ends;
  ListedChoices listed;
  do {
    std::array<std::string, 4> came;
    const auto ended = RunThreads(
        4,
        [&](Endpoint& mine) {
          std::array<std::byte, 1> byte = {};
          std::array<std::byte, 1> answer = {};
          const bool asks = mine.rank() >= 2;
          for (int i = 0; i < 2; ++i) {
            if (asks) {
              const int to = (mine.rank() + i) % 2;
              ASSAY_RETURN_IF_ERROR(mine.Exchange(to, byte, to, answer));
              continue;
            }
            ASSAY_ASSIGN_OR_RETURN(const int from, mine.ReceiveAny(byte));
            came[static_cast<size_t>(mine.rank())] += StrCat(from);
            ASSAY_RETURN_IF_ERROR(mine.Exchange(from, byte, kNobody, {}));
          }
          return OkStatus();
        },
        &listed);
    EXPECT_THAT(ended, kAllWell);
    ends.insert(StrCat(came[0], " ", came[1]));
  } while (listed.GoOn());
  EXPECT_EQ(ends, (std::set<std::string>{"23 23", "23 32", "32 32"}));
}

TEST(DrawnChoicesTest, SaysWhoWaitsForWhom) {
  DrawnChoices drawn(1);
  const auto ended = RunThreads(
      2,
      [](Endpoint& mine) {
        std::array<std::byte, 1> byte = {};
        return mine.rank() == 0 ? mine.ReceiveAny(byte).status()
                                : mine.Exchange(kNobody, {}, 0, byte);
      },
      &drawn);
  EXPECT_THAT(ended[0],
              Says("ranks stand still: rank 0 waits for anybody; rank 1 "
                   "waits for rank 0"));
}

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

/// Two exchanges are under way, and the last one is waited for first.
Status ExchangeTwoAtOnce(Endpoint& mine) {
  const std::array next = {(mine.rank() + 1) % mine.size()};
  const std::array last = {(mine.rank() + mine.size() - 1) % mine.size()};
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(next, last));
  const std::array out = {10 * mine.rank(), 10 * mine.rank() + 1};
  std::array in = {-1, -1};
  std::vector<std::unique_ptr<Pending>> pending;
  for (const size_t i : {0, 1}) {
    ASSAY_ASSIGN_OR_RETURN(
        pending.emplace_back(),
        neighbors->Start(std::as_bytes(std::span(out).subspan(i, 1)),
                         std::as_writable_bytes(std::span(in).subspan(i, 1))));
  }
  ASSAY_RETURN_IF_ERROR(pending[1]->Wait());
  ASSAY_RETURN_IF_ERROR(pending[0]->Wait());
  if (in == std::array{10 * last[0], 10 * last[0] + 1}) return OkStatus();
  return DataLoss("found ", in[0], " and ", in[1], " of rank ", last[0]);
}

TEST(ThreadNeighborsTest, ExchangesUnderWayDoNotMeet) {
  for (const int ranks : {1, 2, 5}) {
    EXPECT_THAT(RunThreads(ranks, ExchangeTwoAtOnce), kAllWell) << ranks;
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
    EXPECT_THAT(ended[0], Says(row.says));
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
  EXPECT_THAT(uneven[0],
              Says("rank 0: found 2 bytes from the neighbor 1, wanted 4"));
  EXPECT_EQ(uneven[0].code(), StatusCode::kDataLoss);
  const auto stands = RunThreads(3, ExchangeButRankTwo);
  EXPECT_THAT(stands[0], Says("rank 2, which has ended"));
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
