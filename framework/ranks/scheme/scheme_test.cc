// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

#include "framework/ranks/scheme/scheme_fixture.h"

namespace assay::ranks {
namespace {

class SchemeTest : public ::testing::TestWithParam<std::string> {};

// Kills: a mean over other ranks than all, a state that one rank has alone, an
// optimizer that sees gradients before they are averaged.
TEST_P(SchemeTest, AllReduceIsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 9}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    // Or nothing was trained.
    EXPECT_GT(std::set(wanted.begin(), wanted.end()).size(), 20U);
    for (const Algorithm algorithm : AlgorithmsOf(Operation::kAllReduce)) {
      for (const int64_t most : {1, 1000}) {
        const Trained trained =
            TrainedBy(Making<AllReduceScheme>(Travel{algorithm, most}),
                      GetParam(), ranks);
        for (const auto& got : trained.parameters) {
          EXPECT_EQ(got, wanted) << ToString(algorithm) << ", " << ranks;
        }
        Collective what{Operation::kAllReduce, algorithm, ranks, kBytes / 4, 0};
        EXPECT_EQ(trained.sent.bytes,
                  kSteps * 4 * CostOf(what).value().elements);
      }
    }
  }
}

// Kills: a server that drops its own gradient, as Deep500's did; workers whose
// parameters are not where the server wants the gradient.
TEST_P(SchemeTest, ServerIsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 2, 3, 8}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    for (const Algorithm algorithm : AlgorithmsOf(Operation::kReduce)) {
      const Trained trained =
          TrainedBy(Making<ServerScheme>(Travel{algorithm}), GetParam(), ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      EXPECT_EQ(trained.sent.bytes, kSteps * 2 * (ranks - 1) * kBytes);
    }
  }
}

// Kills: a batch that counts for nothing or for more than the others, and
// gradients that travel before all of a step are there.
TEST_P(SchemeTest, AccumulatedBatchesAreOne) {
  for (const int ranks : {1, 2, 3, 8}) {
    for (const int64_t batches : {1, 2, 4}) {
      const std::vector<float> wanted = Alone(GetParam(), ranks, batches);
      const Trained trained = TrainedBy(
          [&](Endpoint& mine, auto optimizer) {
            return std::make_unique<AccumulatingScheme>(
                std::make_unique<AllReduceScheme>(mine, std::move(optimizer),
                                                  Travel{}),
                batches);
          },
          GetParam(), ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      EXPECT_EQ(trained.sent.bytes, kSteps * 2 * (ranks - 1) * kBytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SchemeTest, ::testing::ValuesIn(Optimizers()),
                         [](const auto& info) { return info.param; });

// To average parameters after each step of plain descent is to average
// gradients, where nothing is rounded.
TEST(AverageSchemeTest, OfEachStepIsAllReduce) {
  const std::string plain = "gradient_descent";
  for (const int ranks : {2, 4, 8}) {
    const std::vector<float> wanted = Alone(plain, ranks);
    for (const int64_t period : {1, 2, 5}) {
      const Trained trained =
          TrainedBy(Making<AverageScheme>(Travel{}, period), plain, ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      EXPECT_EQ(trained.sent.bytes, kSteps / period * 2 * (ranks - 1) * kBytes);
    }
  }
}

// Kills: a worker whose gradient is of parameters that the server, or the owner
// of a block, has no longer.
TEST(ServerSchemeTest, WorkersSeeTheParametersOfTheServer) {
  constexpr int kRanks = 4;
  // To the mean of the goals, by 1/8 of the way in each step: nothing is
  // rounded.
  double wanted = 5;
  for (int i = 0; i < 3; ++i) wanted -= (wanted - 1.5) / 8;
  const std::vector<double> all(kRanks, wanted);
  const auto numbers = [](const MakeScheme& make) {
    std::vector<PulledObjective> pulled;
    for (int rank = 0; rank < kRanks; ++rank) pulled.emplace_back(5, rank, 1);
    return NumbersBy(make, std::move(pulled), /*steps=*/3);
  };
  EXPECT_EQ(numbers(Making<ServerScheme>(Travel{Algorithm::kLinear})), all);
  EXPECT_EQ(numbers(Making<AllReduceScheme>(Travel{})), all);
  EXPECT_EQ(numbers(Making<ScatteredScheme>(Travel{})), all);
}

TEST(PeersOfTest, ARingOfTwoHasOnePeer) {
  const auto two = PeersOf(Graph::kRing, 1, 2, 0);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two[0].to, 0);
  EXPECT_EQ(two[0].weight, 0.5);
  EXPECT_EQ(PeersOf(Graph::kRing, 0, 3, 0).size(), 2U);
  EXPECT_TRUE(PeersOf(Graph::kRing, 0, 1, 0).empty());
}

TEST(PeersOfTest, OnePeerIsAnotherInEachStep) {
  std::vector<int> to;
  for (int64_t step = 0; step < 4; ++step) {
    const auto peers = PeersOf(Graph::kOnePeerExponential, 0, 6, step);
    ASSERT_EQ(peers.size(), 1U);
    to.push_back(peers[0].to);
  }
  EXPECT_EQ(to, (std::vector{1, 2, 4, 1}));
  EXPECT_EQ(PeersOf(Graph::kExponential, 5, 6, 0)[2].to, 3);
}

std::vector<double> Gossiped(Graph graph,
                             const std::vector<PulledObjective>& objectives,
                             int steps) {
  return NumbersBy(Making<GossipScheme>(graph), objectives, steps);
}

constexpr Graph kGraphs[] = {Graph::kRing, Graph::kComplete,
                             Graph::kExponential, Graph::kOnePeerExponential,
                             Graph::kTorus};

void ExpectShrinks(Graph graph, Wave wave, int ranks) {
  std::vector<PulledObjective> objectives;
  double before = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double x = std::cos(AngleOf(wave, graph, rank, ranks));
    objectives.emplace_back(x, 0, /*pull=*/0);
    before += x * x;
  }
  double after = 0;
  for (const double x : Gossiped(graph, objectives, 1)) after += x * x;
  EXPECT_NEAR(std::sqrt(after / before), FactorOf(wave, graph, ranks), 1e-12)
      << ToString(graph) << ", " << ranks << " ranks, wave " << wave.along_rows
      << " by " << wave.along_columns;
}

// Kills: weights of another graph, or that do not sum up to 1.
TEST(GossipSchemeTest, WavesShrinkAsTheGraphSays) {
  for (const Graph graph : kGraphs) {
    for (const int ranks : {2, 3, 6, 8, 16}) {
      const int rows = RowsOf(graph, ranks);
      for (int k = 1; k < ranks; ++k) {
        ExpectShrinks(graph, {k % rows, k / rows}, ranks);
      }
    }
  }
}

TEST(PeersOfTest, ATorusHasFourNeighbours) {
  EXPECT_EQ(RowsOf(Graph::kTorus, 12), 3);
  EXPECT_EQ(RowsOf(Graph::kTorus, 16), 4);
  EXPECT_EQ(RowsOf(Graph::kTorus, 7), 1);
  EXPECT_EQ(RowsOf(Graph::kRing, 12), 1);
  std::vector<int> to;
  for (const Peer& peer : PeersOf(Graph::kTorus, 5, 12, 0)) {
    to.push_back(peer.to);
    EXPECT_EQ(peer.weight, 1.0 / 5);
  }
  EXPECT_EQ(to, (std::vector{9, 1, 6, 4}));
  // With two rows the other one is both above and below.
  EXPECT_EQ(PeersOf(Graph::kTorus, 0, 6, 0).size(), 3U);
  EXPECT_EQ(PeersOf(Graph::kTorus, 0, 4, 0).size(), 2U);
}

// Kills: a mixing that loses or makes weight.
TEST(GossipSchemeTest, KeepsTheMean) {
  for (const Graph graph : kGraphs) {
    for (const int ranks : {1, 2, 3, 8, 12, 13}) {
      const double before = ranks * MeanOfSquares(ranks);
      const double after =
          TotalOf(Gossiped(graph, FromSquares(ranks, /*pull=*/0), 7));
      EXPECT_NEAR(after, before, 1e-12 * before) << ToString(graph);
    }
  }
}

// Kills: gradients that are mixed in place of parameters, as Deep500's
// neighbour scheme has it: there the ranks leave each other by 3 percent a
// step.
TEST(GossipSchemeTest, RanksStayTogether) {
  constexpr int kRanks = 8;
  std::vector<PulledObjective> objectives;
  for (int rank = 0; rank < kRanks; ++rank) {
    objectives.emplace_back(0, rank % 2 == 0 ? 1 : -1, /*pull=*/1);
  }
  double spread = 0;
  for (const double x : Gossiped(Graph::kRing, objectives, 100))
    spread += x * x;
  // Where each is pulled by 1/8 from x to its goal, and the wave that turns
  // sign from rank to rank has the factor -1/3: x = -x/3 - (x - goal)/8.
  const double x = (1.0 / 8) / (1 + 1.0 / 3 + 1.0 / 8);
  EXPECT_NEAR(spread, kRanks * x * x, 1e-12);
}

/// The numbers and weights of ranks after a run.
struct Pushed {
  std::vector<double> numbers, weights;
  int64_t bytes = 0;  // of all ranks
};

/// Ranks begin at the squares of their numbers, and each is pulled to its
/// number.
Pushed PushedBy(Directed graph, int ranks, int steps, double pull) {
  auto objectives = FromSquares(ranks, pull, /*goal_of_rank=*/1);
  Pushed pushed;
  pushed.weights.resize(objectives.size());
  const auto make = [&](Endpoint& mine) {
    return std::make_unique<PushSumScheme>(mine, Made("gradient_descent"),
                                           graph);
  };
  const auto keep_weight = [&](const auto& scheme, size_t rank) {
    pushed.weights[rank] = scheme.weight();
  };
  pushed.bytes =
      TrainEach(objectives, steps, make, /*choices=*/nullptr, keep_weight)
          .bytes;
  for (const auto& each : objectives) pushed.numbers.push_back(each.number());
  return pushed;
}

// A power of two of ranks is at the mean after log2(ranks) steps (B. Ying et
// al., "Exponential graph is provably efficient for decentralized deep
// training", 2021, lemma 1), and nothing is rounded.
TEST(PushSumSchemeTest, OnePeerAveragesExactly) {
  for (const int power : {0, 1, 2, 3, 4}) {
    const int ranks = 1 << power;
    const Pushed pushed = PushedBy(Directed::kOnePeer, ranks, power, 0);
    for (const double number : pushed.numbers) {
      EXPECT_EQ(number, MeanOfSquares(ranks));
    }
    EXPECT_EQ(pushed.weights, std::vector<double>(pushed.numbers.size(), 1));
    EXPECT_EQ(pushed.bytes, ranks * power * 16);
  }
}

// Kills: numbers that are not put over their weight; parts that do not sum up
// to 1.
TEST(PushSumSchemeTest, UnevenRanksGoToTheMean) {
  for (const int ranks : {2, 3, 5, 8, 13}) {
    const Pushed pushed = PushedBy(Directed::kUneven, ranks, 600, 0);
    const double mean = MeanOfSquares(ranks);
    for (const double number : pushed.numbers) {
      EXPECT_NEAR(number, mean, 1e-12 * mean) << ranks << " ranks";
    }
    EXPECT_NEAR(TotalOf(pushed.weights), ranks, 1e-12 * ranks);
    if (ranks > 2) {
      EXPECT_GT(std::fabs(pushed.weights[0] - 1), 0.01);
    }
  }
}

// Kills: a step that is lost between numbers and parameters. The mean of ranks
// that are together goes to that of their goals.
TEST(PushSumSchemeTest, TakesTheSteps) {
  constexpr int kRanks = 8;
  const Pushed pushed = PushedBy(Directed::kOnePeer, kRanks, 600, 1);
  EXPECT_NEAR(TotalOf(pushed.numbers) / kRanks, 3.5, 1e-9);
}

TEST(HopsOfTest, AreThoseOfTheGraph) {
  EXPECT_TRUE(HopsOf(Directed::kUneven, 0, 1, 0).empty());
  EXPECT_EQ(HopsOf(Directed::kUneven, 0, 2, 0), std::vector{1});
  EXPECT_EQ(HopsOf(Directed::kUneven, 2, 5, 0), (std::vector{1, 2}));
  EXPECT_EQ(HopsOf(Directed::kUneven, 3, 5, 0), std::vector{1});
  EXPECT_EQ(HopsOf(Directed::kOnePeer, 3, 5, 2), std::vector{4});
  EXPECT_EQ(HopsOf(Directed::kOnePeer, 3, 5, 3), std::vector{1});
}

class ShardedTest : public ::testing::TestWithParam<std::string> {};

// Also where there are more ranks than parameters. Kills: an owner that keeps
// its parameters to itself, gradients of another rank's parameters.
TEST_P(ShardedTest, IsTheStepOfTheLargeBatch) {
  for (const int ranks : {1, 2, 3, 8}) {
    const std::vector<float> wanted = Alone(GetParam(), ranks);
    for (const Algorithm algorithm : AlgorithmsOf(Operation::kReduce)) {
      const Trained trained = TrainedBy(
          Making<ShardedScheme>(Travel{algorithm}), GetParam(), ranks);
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
  const MakeScheme make = Making<ShardedScheme>(Travel{Algorithm::kLinear});
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
          Making<ScatteredScheme>(Travel{algorithm}), GetParam(), ranks);
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
  const MakeScheme make = Making<ScatteredScheme>(Travel{});
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

std::vector<int64_t> Batch(int64_t samples) {
  std::vector<int64_t> batch(static_cast<size_t>(samples));
  std::iota(batch.begin(), batch.end(), 10);
  return batch;
}

TEST(ShareTest, HasEverySampleOnceAndItsPartOfTheMean) {
  for (int64_t samples = 0; samples < 20; ++samples) {
    for (int ranks = 1; ranks < 10; ++ranks) {
      std::vector<int64_t> all;
      double weights = 0;
      const int64_t even = samples / ranks;
      for (int rank = 0; rank < ranks; ++rank) {
        const Share share = ShareOf(Batch(samples), rank, ranks);
        const int64_t size = std::ssize(share.samples);
        EXPECT_TRUE(size == even || size == even + 1)
            << samples << " " << ranks;
        all.insert(all.end(), share.samples.begin(), share.samples.end());
        weights += share.weight;
      }
      EXPECT_EQ(all, Batch(samples)) << ranks;
      EXPECT_NEAR(weights, samples == 0 ? 0 : ranks, 1e-12) << samples;
    }
  }
}

/// w, whose gradient of a sample is the sample less w.
class Pulled : public train::Objective {
 public:
  Pulled() {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{0.5}).value()});
    gradients_.push_back(Tensor::Allocate(DType::kFloat64, {1}).value());
  }
  Status Put(std::span<const int64_t> samples) {
    samples_.assign(samples.begin(), samples.end());
    return OkStatus();
  }
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    const double sum = std::accumulate(samples_.begin(), samples_.end(), 0.0);
    const double mean = sum / static_cast<double>(samples_.size());
    gradients_[0].mutable_elements<double>()[0] = mean - w();
    return train::Evaluation{mean, gradients_};
  }
  double w() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  std::vector<int64_t> samples_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

// Two batches with a remainder, and one of fewer samples than ranks.
constexpr int64_t kBatches[] = {11, 8, 2};

TEST(SharedObjectiveTest, RanksTakeTheStepsOfOneWithWholeBatches) {
  Pulled alone;
  const auto optimizer = Made("gradient_descent");
  for (const int64_t samples : kBatches) {
    ASSERT_TRUE(alone.Put(Batch(samples)).ok());
    ASSERT_TRUE(optimizer->Step(alone).ok());
  }
  for (int ranks = 1; ranks <= 5; ++ranks) {
    const auto ended = RunThreads(ranks, [&](Endpoint& mine) -> Status {
      Pulled own;
      SharedObjective shared(
          own, [&](std::span<const int64_t> put) { return own.Put(put); });
      AllReduceScheme scheme(mine, Made("gradient_descent"),
                             {Algorithm::kRing});
      for (const int64_t samples : kBatches) {
        shared.Take(ShareOf(Batch(samples), mine.rank(), mine.size()));
        ASSAY_RETURN_IF_ERROR(scheme.Step(shared).status());
      }
      return own.w() > alone.w() - 1e-12 && own.w() < alone.w() + 1e-12
                 ? OkStatus()
                 : Internal("found ", own.w(), ", wanted ", alone.w());
    });
    EXPECT_THAT(ended, kAllWell);
  }
}

}  // namespace
}  // namespace assay::ranks
