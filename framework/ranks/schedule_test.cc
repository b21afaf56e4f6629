// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "framework/ranks/endpoint.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::ranks {
namespace {

using Vector = std::vector<float>;

TEST(CollectiveTest, SaysWhatIsWrong) {
  Collective what{.ranks = 0};
  EXPECT_THAT(Check(what), Says("found 0 ranks, wanted 1"));
  what.ranks = 3;
  what.count = -1;
  EXPECT_THAT(Check(what), Says("found -1 elements, wanted 0"));
  what.count = 5;
  what.operation = Operation::kBroadcast;
  what.root = 3;
  EXPECT_THAT(Check(what), Says("found the root 3, wanted a rank from 0 to 2"));
  what.root = 2;
  what.algorithm = Algorithm::kRing;
  EXPECT_THAT(Check(what),
              IsStatus(StatusCode::kUnsupported,
                       "found ring for broadcast, wanted linear, binomial"));
  EXPECT_EQ(CostOf(what).status().code(), StatusCode::kUnsupported);
}

TEST(CollectiveTest, RootIsOfThoseThatHaveOne) {
  const Collective what{.ranks = 3, .count = 1, .root = 7};
  EXPECT_TRUE(Check(what).ok());
  EXPECT_EQ(ToString(what), "allreduce/linear, 3 ranks, 1 elements");
  EXPECT_EQ(ToString(Collective{
                .operation = Operation::kGather, .ranks = 2, .root = 1}),
            "gather/linear, 2 ranks, 0 elements, root 1");
}

// The numbers that Open MPI's monitoring gave for 4 MB on 4 ranks, all ranks
// together.
TEST(CollectiveTest, CostsWhatWasSeenOnTheWire) {
  Collective what{.ranks = 4, .count = 1'000'000};
  const auto costs = [&](Algorithm algorithm) {
    what.algorithm = algorithm;
    return CostOf(what).value();
  };
  EXPECT_EQ(costs(Algorithm::kRing), (Cost{6'000'000, 24}));
  EXPECT_EQ(costs(Algorithm::kRecursiveDoubling), (Cost{8'000'000, 8}));
  EXPECT_EQ(costs(Algorithm::kRabenseifner), (Cost{6'000'000, 16}));
  EXPECT_EQ(costs(Algorithm::kLinear), (Cost{6'000'000, 6}));
}

struct Trial {
  Collective what;
  std::vector<Vector> before;
};

struct RanSchedule {
  std::vector<Vector> after;
  Cost cost;
};

RanSchedule RunOf(const Trial& trial, const TogetherOptions& options = {}) {
  std::vector<Schedule> schedules;
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < trial.what.ranks; ++rank) {
    schedules.push_back(ScheduleOf(trial.what, rank).value());
    buffers.push_back(Floats(trial.before[static_cast<size_t>(rank)]));
  }
  SCOPED_TRACE(ToString(trial.what));
  const auto sent = Got(RunTogether(schedules, buffers, options));
  RanSchedule ran;
  for (const Tensor& each : buffers) ran.after.push_back(FloatsOf(each));
  for (const Cost& cost : sent) {
    ran.cost.elements += cost.elements;
    ran.cost.messages += cost.messages;
  }
  return ran;
}

/// Numbers of which a sum of all ranks has no rounding, none of them 0 and no
/// two ranks alike.
Trial Whole(const Collective& what) {
  Trial trial{what, {}};
  for (int rank = 0; rank < what.ranks; ++rank) {
    Vector& buffer = trial.before.emplace_back();
    for (int64_t i = 0; i < ElementsOf(what); ++i) {
      buffer.push_back(static_cast<float>((rank + 1) * 3 + i % 7));
    }
  }
  return trial;
}

Vector SumOfRanks(const Trial& trial) {
  Vector sum(trial.before[0].size());
  for (const Vector& each : trial.before) {
    std::ranges::transform(sum, each, sum.begin(), std::plus());
  }
  return sum;
}

/// Copies a block from where one rank began to where another ends.
struct Move {
  int from, to;
  int64_t begin, at;
};

/// The right elements of every rank's result; -1 where it may have anything.
std::vector<Vector> WantedOf(const Trial& trial) {
  const auto& [operation, algorithm, ranks, count, root] = trial.what;
  std::vector<Vector> wanted(trial.before.size(),
                             Vector(trial.before[0].size(), -1));
  const Vector sum = SumOfRanks(trial);
  const auto move = [&](const Move& m) {
    std::copy_n(trial.before[static_cast<size_t>(m.from)].begin() + m.begin,
                count, wanted[static_cast<size_t>(m.to)].begin() + m.at);
  };
  for (int rank = 0; rank < ranks; ++rank) {
    const auto place = static_cast<size_t>(rank);
    const int64_t own = rank * count;
    for (int other = 0; other < ranks; ++other) {
      const int64_t block = other * count;
      if (operation == Operation::kAllGather ||
          (operation == Operation::kGather && rank == root)) {
        move({other, rank, block, block});
      }
      if (operation == Operation::kAllToAll) {
        move({other, rank, own, ranks * count + block});
      }
    }
    if (operation == Operation::kBroadcast) move({root, rank, 0, 0});
    if (operation == Operation::kScatter) move({root, rank, own, own});
    if (operation == Operation::kAllReduce ||
        (operation == Operation::kReduce && rank == root)) {
      wanted[place] = sum;
    }
    if (operation == Operation::kReduceScatter) {
      std::copy_n(sum.begin() + own, count, wanted[place].begin() + own);
    }
  }
  return wanted;
}

void ExpectRight(const Trial& trial, const RanSchedule& ran) {
  const std::vector<Vector> wanted = WantedOf(trial);
  for (size_t rank = 0; rank < ran.after.size(); ++rank) {
    for (size_t i = 0; i < wanted[rank].size(); ++i) {
      if (wanted[rank][i] == -1 || wanted[rank][i] == ran.after[rank][i]) {
        continue;
      }
      FAIL() << ToString(trial.what) << ": rank " << rank << ", element " << i
             << ": " << ran.after[rank][i] << ", wanted " << wanted[rank][i];
    }
  }
  EXPECT_EQ(ran.cost, CostOf(trial.what).value()) << ToString(trial.what);
}

class ScheduleTest : public ::testing::TestWithParam<Operation> {};

// Kills: a contribution that is lost or counted twice, a block in another's
// place, a root that is taken for rank 0, chunks that do not cover a vector, a
// message too many.
TEST_P(ScheduleTest, IsExactOnWholeNumbersAtItsPrice) {
  for (const Algorithm algorithm : AlgorithmsOf(GetParam())) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 61, 64}) {
      for (const int64_t count : {0, 1, 2, 5, 31, 64}) {
        for (const int root : {0, ranks / 2, ranks - 1}) {
          const Trial trial =
              Whole({GetParam(), algorithm, ranks, count, root});
          ExpectRight(trial, RunOf(trial));
          if (!HasRoot(GetParam())) break;
        }
      }
    }
  }
}

// Kills: a result that depends on who comes first, and a collective that relies
// on room for messages.
TEST_P(ScheduleTest, HasTheSameBitsInEveryOrder) {
  for (const Algorithm algorithm : AlgorithmsOf(GetParam())) {
    for (const int ranks : {2, 3, 8, 13}) {
      Trial trial = Whole({GetParam(), algorithm, ranks, 17, ranks - 1});
      core::Numbers numbers(1);
      for (Vector& buffer : trial.before) {
        for (float& x : buffer) x = static_cast<float>(numbers.Share() - 0.5);
      }
      const RanSchedule first = RunOf(trial);
      for (uint64_t seed = 1; seed < 20; ++seed) {
        EXPECT_EQ(RunOf(trial, {.seed = seed}).after, first.after);
        EXPECT_EQ(RunOf(trial, {.seed = seed, .is_synchronous = true}).after,
                  first.after);
      }
    }
  }
}

TEST_P(ScheduleTest, HoldsForAThousandRanks) {
  for (const Algorithm algorithm : AlgorithmsOf(GetParam())) {
    const bool is_block = ElementsOf({GetParam(), algorithm, 2, 1, 0}) > 1;
    // A million messages each; of a vector there are more elements than ranks.
    const Trial trial = Whole(
        {GetParam(), algorithm, is_block ? 256 : 1024, is_block ? 1 : 1031, 5});
    ExpectRight(trial, RunOf(trial));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleTest, ::testing::ValuesIn(kOperations),
                         [](const auto& info) {
                           return std::string(ToString(info.param));
                         });

/// The trees again, from their definitions and for one element: `x` of each
/// rank. A subtree of a binomial tree joins those of ever higher bits to its
/// root.
float BinomialSum(const Vector& x, size_t rank, size_t bits) {
  float sum = x[rank];
  for (size_t bit = 1; bit < bits && rank + bit < x.size(); bit *= 2) {
    sum += BinomialSum(x, rank + bit, bit);
  }
  return sum;
}

/// Neighbours are joined in pairs until one is left.
float PairedSum(Vector x) {
  const size_t power = std::bit_floor(x.size());
  const size_t more = x.size() - power;
  Vector folded;
  for (size_t i = 0; i < more; ++i) folded.push_back(x[2 * i] + x[2 * i + 1]);
  folded.insert(folded.end(), x.begin() + static_cast<int64_t>(2 * more),
                x.end());
  while (folded.size() > 1) {
    Vector half;
    for (size_t i = 0; i < folded.size(); i += 2) {
      half.push_back(folded[i] + folded[i + 1]);
    }
    folded = std::move(half);
  }
  return folded[0];
}

/// The sum of element i around the ring, from the rank with the number of its
/// chunk.
float RingSum(const Vector& x, int64_t i, int64_t count) {
  const int64_t ranks = std::ssize(x);
  int64_t chunk = 0;
  while ((chunk + 1) * count / ranks <= i) ++chunk;
  float sum = x[static_cast<size_t>(chunk)];
  for (int64_t far = 1; far < ranks; ++far) {
    sum += x[static_cast<size_t>((chunk + far) % ranks)];
  }
  return sum;
}

float TreeSum(Algorithm algorithm, const Vector& x, int64_t i, int64_t count) {
  switch (algorithm) {
    case Algorithm::kLinear:
      return std::accumulate(x.begin() + 1, x.end(), x[0]);
    case Algorithm::kBinomial:
      return BinomialSum(x, 0, std::bit_ceil(x.size()));
    case Algorithm::kRing:
      return RingSum(x, i, count);
    default:
      return PairedSum(x);
  }
}

// Kills: another tree than the algorithm's, which no whole number shows.
TEST(AllReduceTest, HasTheBitsOfItsTree) {
  constexpr int64_t kCount = 23;
  for (const Algorithm algorithm : AlgorithmsOf(Operation::kAllReduce)) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 61, 64}) {
      Trial trial{{Operation::kAllReduce, algorithm, ranks, kCount, 0}, {}};
      core::Numbers numbers(static_cast<uint64_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) {
        Vector& buffer = trial.before.emplace_back();
        for (int64_t i = 0; i < kCount; ++i) {
          buffer.push_back(static_cast<float>(numbers.Share() - 0.5));
        }
      }
      const RanSchedule ran = RunOf(trial);
      for (size_t i = 0; i < kCount; ++i) {
        Vector x;
        for (const Vector& buffer : trial.before) x.push_back(buffer[i]);
        const float wanted =
            TreeSum(algorithm, x, static_cast<int64_t>(i), kCount);
        for (const Vector& after : ran.after) {
          ASSERT_EQ(after[i], wanted) << ToString(trial.what);
        }
      }
    }
  }
}

TEST(ScheduleOfTest, WantsARank) {
  const Collective what{.ranks = 4, .count = 2};
  EXPECT_THAT(ScheduleOf(what, 4),
              Says("found the rank 4, wanted one from 0 to 3"));
  EXPECT_FALSE(ScheduleOf({.ranks = 0}, 0).ok());
}

constexpr Part kOne{0, 1};

Step SendTo(int to, Part out = kOne) { return {.to = to, .out = out}; }
Step ReceiveFrom(int from, Part in = kOne) { return {.from = from, .in = in}; }

/// Each rank has two elements: ten times its number, and one more.
Result<std::vector<Cost>> Ran(const std::vector<Schedule>& schedules,
                              bool is_synchronous = false,
                              std::vector<Tensor>* left = nullptr) {
  std::vector<Tensor> buffers;
  for (size_t rank = 0; rank < schedules.size(); ++rank) {
    const auto first = static_cast<float>(10 * rank);
    buffers.push_back(Floats({first, first + 1}));
  }
  auto sent = RunTogether(schedules, buffers,
                          {.seed = 3, .is_synchronous = is_synchronous});
  if (left != nullptr) *left = buffers;
  return sent;
}

TEST(TogetherTest, CountsWhatEachRankSends) {
  std::vector<Tensor> left;
  const auto sent = Got(Ran({{SendTo(1, {0, 2}), SendTo(1, {1, 0})},
                             {ReceiveFrom(0, {0, 2}), ReceiveFrom(0, {2, 0})}},
                            false, &left));
  EXPECT_EQ(sent[0], (Cost{2, 2}));
  EXPECT_EQ(sent[1], Cost());
  EXPECT_EQ(left[1].elements<float>()[1], 1);
}

// Kills: messages between two ranks that overtake each other.
TEST(TogetherTest, MessagesBetweenTwoRanksKeepTheirOrder) {
  std::vector<Tensor> left;
  const auto sent = Got(Ran({{SendTo(1, {0, 1}), SendTo(1, {1, 1})},
                             {ReceiveFrom(0, {1, 1}), ReceiveFrom(0, {0, 1})}},
                            false, &left));
  EXPECT_EQ(left[1].elements<float>()[0], 1);
  EXPECT_EQ(left[1].elements<float>()[1], 0);
}

TEST(TogetherTest, SaysWhoWaitsForWhom) {
  const auto both =
      Ran({{ReceiveFrom(1), SendTo(1)}, {ReceiveFrom(0), SendTo(0)}, {}});
  EXPECT_THAT(both.status(),
              IsStatus(StatusCode::kFailedPrecondition,
                       "ranks stand still: rank 0 at step 0 waits for rank 1; "
                       "rank 1 at step 0 waits for rank 0"));
  EXPECT_THAT(Ran({{}, {}, {ReceiveFrom(1)}}),
              Says("rank 2 at step 0 waits for rank 1, which has ended"));
}

// Kills: a run that gives every message room, as small ones have it in MPI.
TEST(TogetherTest, SendingToEachOtherNeedsRoom) {
  const std::vector<Schedule> both = {{SendTo(1), ReceiveFrom(1)},
                                      {SendTo(0), ReceiveFrom(0)}};
  EXPECT_TRUE(Ran(both, false).ok());
  EXPECT_THAT(Ran(both, true), Says("rank 0 at step 0 sends to rank 1; "
                                    "rank 1 at step 0 sends to rank 0"));
  const std::vector<Schedule> exchange = {
      {{.to = 1, .out = kOne, .from = 1, .in = kOne}},
      {{.to = 0, .out = kOne, .from = 0, .in = kOne}}};
  EXPECT_TRUE(Ran(exchange, true).ok());
}

TEST(TogetherTest, MessagesFitTheirReceivers) {
  EXPECT_THAT(
      Ran({{SendTo(1, {0, 2})}, {ReceiveFrom(0)}}).status(),
      IsStatus(StatusCode::kDataLoss,
               "step 0 of rank 1: found 8 bytes from rank 0, wanted 4"));
  EXPECT_THAT(Ran({{SendTo(1), SendTo(1)}, {ReceiveFrom(0)}}).status(),
              IsStatus(StatusCode::kDataLoss,
                       "nobody received 1 messages from rank 0 to rank 1"));
}

TEST(TogetherTest, NamesWhatIsNoRankAndNoBuffer) {
  EXPECT_THAT(Ran({{SendTo(2)}, {}}),
              Says("step 0 of rank 0 names 2, wanted a rank below 2"));
  EXPECT_THAT(Ran({{SendTo(1, {1, 2})}, {}}),
              Says("found the elements from 1 to 3"));
  std::vector<Tensor> none;
  const std::vector<Schedule> one(1);
  EXPECT_THAT(RunTogether(one, none, {}), Says("found 0 buffers, wanted 1"));
}

}  // namespace
}  // namespace assay::ranks
