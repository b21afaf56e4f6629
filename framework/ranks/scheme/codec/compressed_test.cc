// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "framework/ranks/scheme/codec/codec.h"
#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::ranks {
namespace {

using MakeCodec = std::unique_ptr<Codec> (*)(int rank);
using Pairs = std::vector<PlacedNumber>;

MakeScheme Compressed(MakeCodec codec, CompressedScheme::Options options = {}) {
  return [=](Endpoint& mine, std::unique_ptr<train::Optimizer> optimizer) {
    return std::make_unique<CompressedScheme>(mine, std::move(optimizer),
                                              codec(mine.rank()), options);
  };
}

std::unique_ptr<Codec> Half(int) {
  return std::make_unique<RoundingCodec>(DType::kFloat16);
}
std::unique_ptr<Codec> BHalf(int) {
  return std::make_unique<RoundingCodec>(DType::kBFloat16);
}
std::unique_ptr<Codec> All(int) { return std::make_unique<TopCodec>(1); }
std::unique_ptr<Codec> Some(int) { return std::make_unique<TopCodec>(0.2); }
std::unique_ptr<Codec> Sign(int) { return std::make_unique<SignCodec>(); }
std::unique_ptr<Codec> Level(int rank) {
  return std::make_unique<LevelCodec>(
      4, core::KeyOf(7, static_cast<int64_t>(rank)));
}

/// The bytes of all steps of a model whose gradients go by a codec.
int64_t BytesBy(const Codec& codec, int ranks, Algorithm algorithm) {
  int64_t bytes = 0;
  for (const int64_t size : kSizes) {
    bytes += CostOf({.operation = Operation::kAllGather,
                     .algorithm = algorithm,
                     .ranks = ranks,
                     .count = codec.BytesOf(size)})
                 .value()
                 .elements;
  }
  return kSteps * bytes;
}

struct Left {
  std::vector<float> parameters;  // of the first rank
  std::vector<float> rests;       // over all ranks, by each parameter's place
};

/// Runs plain descent on whole numbers by the schemes that `make` makes.
template <class Make>
Left LeftBy(const Make& make, int ranks) {
  std::vector<WholeObjective> objectives = WholeObjectives(ranks);
  std::vector<std::vector<float>> rests(objectives.size());
  const auto keep_rests = [&](const auto& scheme, size_t rank) {
    for (const auto& rest : scheme.rests()) {
      rests[rank].insert(rests[rank].end(), rest.begin(), rest.end());
    }
  };
  TrainEach(objectives, kSteps, make, /*choices=*/nullptr, keep_rests);
  Left left{objectives[0].Numbers(), std::vector<float>(rests[0].size())};
  for (const auto& rest : rests) {
    for (size_t i = 0; i < rest.size(); ++i) left.rests[i] += rest[i];
  }
  return left;
}

/// With a rate of 1/8 and a power of two of ranks nothing is rounded.
template <class Make>
void ExpectLosesNothing(const Make& make) {
  for (const int ranks : {1, 2, 4, 8}) {
    const Left left = LeftBy(make, ranks);
    const std::vector<float> wanted = Alone("gradient_descent", ranks);
    float waiting = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const float last = left.rests[i] / static_cast<float>(ranks) / 8;
      EXPECT_EQ(left.parameters[i] - last, wanted[i])
          << ranks << " ranks, place " << i;
      waiting += std::fabs(left.rests[i]);
    }
    EXPECT_GT(waiting, 0) << "or it sent all";
  }
}

class CompressedTest : public ::testing::TestWithParam<std::string> {};

// Where nothing is lost, it is the step of the large batch. Kills: a mean over
// other ranks than all, a rank's own part that is left out.
TEST_P(CompressedTest, OfWholeNumbersIsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 3, 8}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    for (const MakeCodec codec : {&Half, &BHalf, &All}) {
      for (const Algorithm algorithm : AlgorithmsOf(Operation::kAllGather)) {
        const Trained trained =
            TrainedBy(Compressed(codec, {algorithm}), GetParam(), ranks);
        for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
        EXPECT_EQ(trained.sent.bytes, BytesBy(*codec(0), ranks, algorithm));
      }
    }
  }
}

// Kills: ranks that make something else of the same bytes.
TEST_P(CompressedTest, AllRanksTakeTheSameStep) {
  for (const MakeCodec codec : {&Some, &Sign, &Level}) {
    const Trained trained = TrainedBy(Compressed(codec), GetParam(), 4);
    for (const auto& got : trained.parameters) {
      EXPECT_EQ(got, trained.parameters[0]);
    }
    EXPECT_NE(trained.parameters[0], Alone(GetParam(), 4));
    EXPECT_EQ(trained.sent.bytes, BytesBy(*codec(0), 4, Algorithm::kRing));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompressedTest, ::testing::ValuesIn(Optimizers()),
                         [](const auto& info) { return info.param; });

auto SendingSome(bool keeps) {
  return [=](Endpoint& mine) {
    return std::make_unique<CompressedScheme>(
        mine, Made("gradient_descent"), Some(mine.rank()),
        CompressedScheme::Options{.keeps_rest = keeps});
  };
}

// Kills: a rest that is dropped, or sent twice.
TEST(CompressedSchemeTest, LosesNothing) {
  ExpectLosesNothing(SendingSome(/*keeps=*/true));
}

TEST(CompressedSchemeTest, DropsTheRestWhereItIsAskedTo) {
  const Left left = LeftBy(SendingSome(/*keeps=*/false), 4);
  for (const float each : left.rests) EXPECT_EQ(each, 0);
  EXPECT_NE(left.parameters, Alone("gradient_descent", 4));
}

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
  EXPECT_THAT(ended, kAllWell);
  summed.sent = SumOf(sent);
  return summed;
}

/// About one place in `every`, another choice for each rank.
Pairs DrawnPairs(int rank, int64_t size, uint64_t every,
                 const std::function<float(core::Numbers&)>& number) {
  core::Numbers drawn(core::KeyOf(every, int64_t{rank}));
  Pairs pairs;
  for (int32_t place = 0; place < size; ++place) {
    if (drawn.Below(every) == 0) pairs.push_back({place, number(drawn)});
  }
  return pairs;
}

constexpr int kRankCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16};

// Kills: ranks beyond a power of two that are left out or not told, a place
// that is lost where vectors meet, a vector that stays sparse on one side
// alone.
TEST(SparseSumTest, OfWholeNumbersIsTheDenseSum) {
  constexpr int64_t kSize = 60;
  const auto whole = [](core::Numbers& drawn) {
    return static_cast<float>(drawn.Below(17)) - 6;
  };
  for (const int ranks : kRankCounts) {
    for (const uint64_t every : {1, 2, 3, 10, 100}) {
      const auto pairs = [&](int rank) {
        return DrawnPairs(rank, kSize, every, whole);
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
  for (const int ranks : kRankCounts) {
    for (const uint64_t every : {1, 4, 30}) {
      const Summed summed = SumOver(ranks, kSize, [&](int rank) {
        return DrawnPairs(rank, kSize, every, rounds);
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
    for (const int ranks : kRankCounts) {
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
    const Trained trained =
        TrainedBy(Making<SparseScheme>(1.0), GetParam(), ranks);
    for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted) << ranks;
    EXPECT_EQ(trained.sent, AllOfIt(ranks));
  }
}

TEST_P(SparseTest, AllRanksTakeTheSameStep) {
  for (const int ranks : {3, 4, 8}) {
    const Trained trained =
        TrainedBy(Making<SparseScheme>(0.2), GetParam(), ranks);
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
  EXPECT_THAT(ended[0],
              IsStatus(StatusCode::kUnsupported,
                       "found a gradient of type float64, wanted float32"));
}

/// Rank 1 sends a length and bytes of its own to rank 0, whose vector has ten
/// numbers.
struct SparseLie {
  std::string name;
  int64_t length;
  Pairs pairs;
  std::string message;
};

const SparseLie kSparseLies[] = {
    {"half a pair", 12, {}, "found 12 bytes of a sparse vector, wanted 8"},
    {"less than nothing", -8, {}, "found -8 bytes of a sparse vector"},
    {"more than all", 48, {}, "found 48 bytes of a sparse vector"},
    {"a place beyond the end", 8, {{10, 1}}, "found a number at place 10"},
    {"places that fall", 16, {{3, 1}, {2, 1}}, "found a number at place 2"},
};

TEST(SparseSumTest, BytesThatNoVectorHasAreDataLoss) {
  for (const SparseLie& lie : kSparseLies) {
    const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
      if (mine.rank() == 0) {
        return SparseSum(SparseVector(10, {}), mine).status();
      }
      const auto length = std::as_bytes(std::span(&lie.length, 1));
      ASSAY_RETURN_IF_ERROR(mine.Exchange(0, length, kNobody, {}));
      return mine.Exchange(0, std::as_bytes(std::span(lie.pairs)), kNobody, {});
    });
    EXPECT_THAT(ended[0], IsStatus(StatusCode::kDataLoss, lie.message))
        << lie.name;
  }
}

}  // namespace
}  // namespace assay::ranks
