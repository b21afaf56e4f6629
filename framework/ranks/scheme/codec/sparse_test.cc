// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/sparse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/ranks/model/pulled_objective.h"
#include "framework/ranks/scheme/codec/rests_fixture.h"
#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/watch.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;
using Pairs = std::vector<PlacedNumber>;

/// The sum that each rank has, and what all sent.
struct Summed {
  std::vector<std::vector<float>> numbers;
  Traffic sent;
};

Summed SumOver(int ranks, int64_t size,
               const std::function<Pairs(int rank)>& pairs) {
  Summed summed{std::vector<std::vector<float>>(static_cast<size_t>(ranks)),
                {}};
  std::vector<Traffic> sent(summed.numbers.size());
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) {
    const auto rank = static_cast<size_t>(mine.rank());
    WatchedEndpoint watched(mine);
    ASSAY_ASSIGN_OR_RETURN(
        const SparseVector sum,
        SparseSum(SparseVector(size, pairs(mine.rank())), watched));
    summed.numbers[rank] = sum.Numbers();
    sent[rank] = watched.sent();
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  for (const Traffic& each : sent) {
    summed.sent.bytes += each.bytes;
    summed.sent.messages += each.messages;
  }
  return summed;
}

/// About one place in `every`, another choice for each rank.
Pairs Drawn(int rank, int64_t size, uint64_t every,
            const std::function<float(core::Numbers&)>& number) {
  core::Numbers drawn(core::KeyOf(every, int64_t{rank}));
  Pairs pairs;
  for (int32_t place = 0; place < size; ++place) {
    if (drawn.Below(every) == 0) pairs.push_back({place, number(drawn)});
  }
  return pairs;
}

constexpr int kAllRanks[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16};

// Kills: ranks beyond a power of two that are left out or not told, a place
// that is lost where vectors meet, a vector that stays sparse on one side
// alone.
TEST(SparseSumTest, OfWholeNumbersIsTheDenseSum) {
  constexpr int64_t kSize = 60;
  const auto whole = [](core::Numbers& drawn) {
    return static_cast<float>(drawn.Below(17)) - 6;
  };
  for (const int ranks : kAllRanks) {
    for (const uint64_t every : {1, 2, 3, 10, 100}) {
      const auto pairs = [&](int rank) {
        return Drawn(rank, kSize, every, whole);
      };
      std::vector<float> wanted(kSize);
      for (int rank = 0; rank < ranks; ++rank) {
        for (const auto& [place, number] : pairs(rank)) {
          wanted[static_cast<size_t>(place)] += number;
        }
      }
      for (const auto& got : SumOver(ranks, kSize, pairs).numbers) {
        EXPECT_EQ(got, wanted) << ranks << " ranks, one of " << every;
      }
    }
  }
}

// Kills: sums that depend on who adds them.
TEST(SparseSumTest, HasTheSameBitsOnAllRanks) {
  constexpr int64_t kSize = 200;
  const auto rounds = [](core::Numbers& drawn) {
    return static_cast<float>(drawn.Share() - 0.5);
  };
  for (const int ranks : kAllRanks) {
    for (const uint64_t every : {1, 4, 30}) {
      const Summed summed = SumOver(ranks, kSize, [&](int rank) {
        return Drawn(rank, kSize, every, rounds);
      });
      for (const auto& got : summed.numbers) {
        EXPECT_TRUE(
            std::ranges::equal(std::as_bytes(std::span(got)),
                               std::as_bytes(std::span(summed.numbers[0]))))
            << ranks << " ranks, one of " << every;
      }
    }
  }
}

// A sum of two numbers that are none has the bits of one of them. Kills: a rank
// that adds its own number first.
TEST(SparseSumTest, HasTheSameNoNumberOnAllRanks) {
  constexpr uint32_t kNan = 0x7FC00000U;
  for (const int64_t size : {2, 10}) {
    for (const int ranks : kAllRanks) {
      const Summed summed = SumOver(ranks, size, [](int rank) {
        return Pairs{
            {1, std::bit_cast<float>(kNan + static_cast<uint32_t>(rank))}};
      });
      for (const auto& got : summed.numbers) {
        EXPECT_EQ(std::bit_cast<uint32_t>(got[1]),
                  std::bit_cast<uint32_t>(summed.numbers[0][1]))
            << ranks << " ranks, size " << size;
      }
    }
  }
}

constexpr int kPairs = 3;  // of each rank, below

/// Each rank has the next indices, so that no two have one in common.
Pairs OwnPlaces(int rank) {
  Pairs pairs;
  for (int i = 0; i < kPairs; ++i) pairs.push_back({kPairs * rank + i, 1});
  return pairs;
}
Pairs SamePlaces(int) { return OwnPlaces(0); }

// 8 bytes for a pair, and 8 for the length of each vector. Kills: a vector that
// is sent dense or with zeros, a stage that sends more than it has.
TEST(SparseSumTest, SendsWhatTheFormulaSays) {
  constexpr int64_t kSize = 1000;
  for (const int power : {0, 1, 2, 3, 4}) {
    const int ranks = 1 << power;
    const int64_t vectors = int64_t{power} * ranks;
    // k 2^i in stage i: k times the sum of those powers.
    EXPECT_EQ(
        SumOver(ranks, kSize, &OwnPlaces).sent,
        (Traffic{8 * vectors + 8 * ranks * kPairs * (ranks - 1), 2 * vectors}));
    EXPECT_EQ(SumOver(ranks, kSize, &SamePlaces).sent,
              (Traffic{8 * vectors + 8 * vectors * kPairs, 2 * vectors}));
  }
}

// The first and the third of six ranks hand k pairs to the next ones. Four go
// on, of which two have 2 k pairs then, and two k: they send 6 k, and then 12
// k. The result has 6 k, and goes back to two.
TEST(SparseSumTest, SendsWhatTheFormulaSaysBeyondAPowerOfTwo) {
  constexpr int64_t kVectors = 2 + 4 + 4 + 2;
  EXPECT_EQ(
      SumOver(6, 1000, &OwnPlaces).sent,
      (Traffic{8 * kVectors + 8 * (2 + 6 + 12 + 12) * kPairs, 2 * kVectors}));
  EXPECT_EQ(SumOver(6, 1000, &SamePlaces).sent,
            (Traffic{8 * kVectors + 8 * kVectors * kPairs, 2 * kVectors}));
}

// Kills: a dense vector that goes as pairs, a switch of the one side alone.
TEST(SparseSumTest, SwitchesToDenseAtItsEdge) {
  constexpr int kRanks = 4;
  // Six pairs of 8 bytes in the second stage, or as many numbers of 4 bytes as
  // there are. Sizes hold the places of all.
  for (const int64_t size : {12, 13, 14}) {
    const Summed summed = SumOver(kRanks, size, &OwnPlaces);
    const int64_t second = std::min<int64_t>(8 * 2 * kPairs, 4 * size);
    EXPECT_EQ(summed.sent.bytes, kRanks * (2 * 8 + 8 * kPairs + second))
        << size;
    std::vector<float> wanted(static_cast<size_t>(size));
    std::fill_n(wanted.begin(), kRanks * kPairs, 1.0F);
    for (const auto& got : summed.numbers) EXPECT_EQ(got, wanted) << size;
  }
}

MakeScheme Sparse(double share) {
  return [=](Endpoint& mine, std::unique_ptr<train::Optimizer> optimizer) {
    return std::make_unique<SparseScheme>(mine, std::move(optimizer), share);
  };
}

/// The bytes of all steps of a model whose gradients are sent whole.
Traffic AllOfIt(int ranks) {
  Traffic sent;
  for (const int64_t size : kSizes) {
    const Cost cost = CostOf({.operation = Operation::kAllReduce,
                              .algorithm = Algorithm::kRecursiveDoubling,
                              .ranks = ranks,
                              .count = size})
                          .value();
    sent.bytes += kSteps * (4 * cost.elements + 8 * cost.messages);
    sent.messages += kSteps * 2 * cost.messages;
  }
  return sent;
}

class SparseTest : public ::testing::TestWithParam<std::string> {};

// Kills: a mean over other ranks than all.
TEST_P(SparseTest, OfAllWholeNumbersIsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    const Trained trained = TrainedBy(Sparse(1), GetParam(), ranks);
    for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted) << ranks;
    EXPECT_EQ(trained.sent, AllOfIt(ranks));
  }
}

TEST_P(SparseTest, AllRanksTakeTheSameStep) {
  for (const int ranks : {3, 4, 8}) {
    const Trained trained = TrainedBy(Sparse(0.2), GetParam(), ranks);
    for (const auto& got : trained.parameters) {
      EXPECT_EQ(got, trained.parameters[0]) << ranks;
    }
    EXPECT_NE(trained.parameters[0], Alone(GetParam(), ranks));
    EXPECT_LT(trained.sent.bytes, AllOfIt(ranks).bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseTest, ::testing::ValuesIn(Optimizers()),
                         [](const auto& info) { return info.param; });

// Kills: a rest that is dropped, or sent twice.
TEST(SparseSchemeTest, LosesNothing) {
  ExpectLosesNothing([](Endpoint& mine) {
    return std::make_unique<SparseScheme>(mine, Made("gradient_descent"), 0.2);
  });
}

TEST(SparseSchemeTest, IsOfFloat32) {
  const auto ended = RunThreads(1, [](Endpoint& mine) {
    PulledObjective model(0, 0, 0);
    return SparseScheme(mine, Made("gradient_descent"), 1).Step(model).status();
  });
  EXPECT_EQ(ended[0].code(), StatusCode::kUnsupported);
  EXPECT_THAT(ended[0].message(),
              HasSubstr("found a gradient of type float64, wanted float32"));
}

/// Rank 1 sends a length and bytes of its own to rank 0, whose vector has ten
/// numbers.
struct Lie {
  std::string name;
  int64_t length;
  Pairs pairs;
  std::string message;
};

const Lie kLies[] = {
    {"half a pair", 12, {}, "found 12 bytes of a sparse vector, wanted 8"},
    {"less than nothing", -8, {}, "found -8 bytes of a sparse vector"},
    {"more than all", 48, {}, "found 48 bytes of a sparse vector"},
    {"a place beyond the end", 8, {{10, 1}}, "found a number at place 10"},
    {"places that fall", 16, {{3, 1}, {2, 1}}, "found a number at place 2"},
};

TEST(SparseSumTest, BytesThatNoVectorHasAreDataLoss) {
  for (const Lie& lie : kLies) {
    const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
      if (mine.rank() == 0) {
        return SparseSum(SparseVector(10, {}), mine).status();
      }
      const auto length = std::as_bytes(std::span(&lie.length, 1));
      ASSAY_RETURN_IF_ERROR(mine.Exchange(0, length, kNobody, {}));
      return mine.Exchange(0, std::as_bytes(std::span(lie.pairs)), kNobody, {});
    });
    EXPECT_EQ(ended[0].code(), StatusCode::kDataLoss) << lie.name;
    EXPECT_THAT(ended[0].message(), HasSubstr(lie.message)) << lie.name;
  }
}

}  // namespace
}  // namespace assay::ranks
