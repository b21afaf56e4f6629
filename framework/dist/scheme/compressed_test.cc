// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/scheme/compressed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "framework/dist/scheme/scheme_fixture.h"
#include "framework/dist/threads/threads.h"

namespace assay::dist {
namespace {

using MakeCodec = std::unique_ptr<Codec> (*)(int rank);

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

/// Of a model whose gradients go by a codec, in all steps.
int64_t BytesBy(const Codec& codec, int ranks, Algorithm algorithm) {
  int64_t bytes = 0;
  for (const int size : kSizes) {
    bytes += CostOf({.operation = Operation::kAllGather,
                     .algorithm = algorithm,
                     .ranks = ranks,
                     .count = codec.BytesOf(size)})
                 .value()
                 .elements;
  }
  return kSteps * bytes;
}

class CompressedTest : public ::testing::TestWithParam<std::string> {};

// Where nothing is lost, it is the step of the large batch. Kills: a mean over other
// ranks than all, a rank's own part that is left out.
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

/// What plain descent with whole numbers did not do yet because ranks keep rests, over
/// all ranks: by each parameter's place.
std::vector<float> RestsOf(int ranks, bool keeps,
                           std::vector<float>* parameters) {
  std::vector<WholeObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) objectives.emplace_back(rank, ranks);
  std::vector<std::vector<float>> rests(static_cast<size_t>(ranks));
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) {
    const auto rank = static_cast<size_t>(mine.rank());
    CompressedScheme scheme(mine, Made("gradient_descent"), Some(mine.rank()),
                            {.keeps_rest = keeps});
    for (int i = 0; i < kSteps; ++i) {
      ASSAY_RETURN_IF_ERROR(scheme.Step(objectives[rank]).status());
    }
    for (const auto& rest : scheme.rests()) {
      rests[rank].insert(rests[rank].end(), rest.begin(), rest.end());
    }
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  *parameters = objectives[0].Numbers();
  std::vector<float> sum(rests[0].size());
  for (const auto& rest : rests) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += rest[i];
  }
  return sum;
}

// Error feedback loses nothing: what was sent and what is left are all gradients. With a
// rate of 1/8 and a power of two of ranks nothing is rounded. Kills: a rest that is
// dropped, or sent twice.
TEST(CompressedSchemeTest, LosesNothing) {
  for (const int ranks : {1, 2, 4, 8}) {
    std::vector<float> got;
    std::vector<float> left = RestsOf(ranks, /*keeps=*/true, &got);
    const std::vector<float> wanted = Alone("gradient_descent", ranks);
    float waiting = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const float last = left[i] / static_cast<float>(ranks) / 8;
      EXPECT_EQ(got[i] - last, wanted[i]) << ranks << " ranks, place " << i;
      waiting += std::fabs(left[i]);
    }
    EXPECT_GT(waiting, 0) << "or it sent all";
  }
}

TEST(CompressedSchemeTest, DropsTheRestWhereItIsAskedTo) {
  std::vector<float> got;
  for (const float left : RestsOf(4, /*keeps=*/false, &got)) EXPECT_EQ(left, 0);
  EXPECT_NE(got, Alone("gradient_descent", 4));
}

}  // namespace
}  // namespace assay::dist
