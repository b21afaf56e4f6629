// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/compressed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/ranks/scheme/codec/rests_fixture.h"
#include "framework/ranks/scheme/scheme_fixture.h"

namespace assay::ranks {
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

}  // namespace
}  // namespace assay::ranks
