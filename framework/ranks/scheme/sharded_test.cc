// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/sharded.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/ranks/scheme/scheme_fixture.h"

namespace assay::ranks {
namespace {

class ShardedTest : public ::testing::TestWithParam<std::string> {};

// Also where there are more ranks than parameters. Kills: an owner that keeps
// its parameters to itself, gradients of another rank's parameters.
TEST_P(ShardedTest, IsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 2, 3, 8}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    for (const Algorithm algorithm : AlgorithmsOf(Operation::kReduce)) {
      const Trained trained = TrainedBy(
          [&](Endpoint& mine, auto optimizer) {
            return std::make_unique<ShardedScheme>(mine, std::move(optimizer),
                                                   Travel{algorithm});
          },
          GetParam(), ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      EXPECT_EQ(trained.sent.bytes, kSteps * 2 * (ranks - 1) * kBytes);
    }
  }
}

/// AcceleGrad's rate is of the gradients by all parameters.
constexpr char kOfAll[] = "accelegrad";

std::vector<std::string> OfEachParameter() {
  std::vector<std::string> names = Optimizers();
  std::erase(names, kOfAll);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ShardedTest,
                         ::testing::ValuesIn(OfEachParameter()),
                         [](const auto& info) { return info.param; });

TEST(ShardedSchemeTest, AnOptimizerOfAllSeesTheOwnersAlone) {
  const MakeScheme make = [](Endpoint& mine, auto optimizer) {
    return std::make_unique<ShardedScheme>(mine, std::move(optimizer),
                                           Travel{Algorithm::kLinear});
  };
  EXPECT_EQ(TrainedBy(make, kOfAll, 1).parameters[0], Alone(kOfAll, 1));
  const Trained two = TrainedBy(make, kOfAll, 2);
  EXPECT_NE(two.parameters[0], Alone(kOfAll, 2));
  EXPECT_EQ(two.parameters[0], two.parameters[1]);
}

class ScatteredTest : public ::testing::TestWithParam<std::string> {};

// Also where there are more ranks than elements. Kills: a block that stays with
// its rank, or that gets the gradients of another one.
TEST_P(ScatteredTest, IsTheStepOfTheLargeBatch) {
  constexpr int64_t kElements = kSizes[0] + kSizes[1];
  for (const int ranks : {1, 2, 3, 8, 40}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    for (const Algorithm algorithm : AlgorithmsOf(Operation::kReduceScatter)) {
      const Trained trained = TrainedBy(
          [&](Endpoint& mine, auto optimizer) {
            return std::make_unique<ScatteredScheme>(mine, std::move(optimizer),
                                                     Travel{algorithm});
          },
          GetParam(), ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      const int64_t block = (kElements + ranks - 1) / ranks;
      if (algorithm != Algorithm::kRing) continue;
      EXPECT_EQ(trained.sent.bytes,
                kSteps * 2 * ranks * (ranks - 1) * block * 4);
    }
  }
}

/// LAMB's rate is of a whole parameter.
std::vector<std::string> OfEachElement() {
  std::vector<std::string> names = OfEachParameter();
  std::erase(names, "lamb");
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ScatteredTest,
                         ::testing::ValuesIn(OfEachElement()),
                         [](const auto& info) { return info.param; });

// A rank keeps the state of its share. Kills: an optimizer of all elements on
// each rank.
TEST(ScatteredSchemeTest, AnOptimizerSeesOneBlock) {
  const MakeScheme make = [](Endpoint& mine, auto optimizer) {
    return std::make_unique<ScatteredScheme>(mine, std::move(optimizer),
                                             Travel{});
  };
  EXPECT_NE(TrainedBy(make, "lamb", 2).parameters[0], Alone("lamb", 2));
}

TEST(BlocksTest, TensorsAreOfOneType) {
  const std::vector<Tensor> tensors = {
      Tensor::Allocate(DType::kFloat32, {2}).value(),
      Tensor::Allocate(DType::kFloat64, {2}).value()};
  RunThreads(1, [&](Endpoint& mine) {
    const Status status = Blocks::Of(tensors, mine).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_EQ(status.message(),
              "found tensors of float32 and of float64, wanted one type");
    return OkStatus();
  });
}

// Kills: one rank that owns all.
TEST(OwnersOfTest, AreSpreadBySize) {
  std::vector<train::Parameter> parameters;
  for (const int64_t size : {3, 10, 4, 4, 1}) {
    parameters.push_back({StrCat("w", parameters.size()),
                          Tensor::Allocate(DType::kFloat32, {size}).value()});
  }
  EXPECT_EQ(OwnersOf(parameters, 2), (std::vector{1, 0, 1, 1, 0}));
  EXPECT_EQ(OwnersOf(parameters, 8), (std::vector{3, 0, 1, 2, 4}));
  EXPECT_EQ(OwnersOf(parameters, 1), std::vector<int>(5, 0));
}

}  // namespace
}  // namespace assay::ranks
