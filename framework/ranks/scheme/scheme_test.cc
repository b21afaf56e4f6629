// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/ranks/scheme/sharded.h"
#include "framework/ranks/threads/threads.h"

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
        const Trained trained = TrainedBy(
            [&](Endpoint& mine, auto optimizer) {
              return std::make_unique<AllReduceScheme>(
                  mine, std::move(optimizer), Travel{algorithm, most});
            },
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
      const Trained trained = TrainedBy(
          [&](Endpoint& mine, auto optimizer) {
            return std::make_unique<ServerScheme>(mine, std::move(optimizer),
                                                  Travel{algorithm});
          },
          GetParam(), ranks);
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
      const Trained trained = TrainedBy(
          [&](Endpoint& mine, auto optimizer) {
            return std::make_unique<AverageScheme>(mine, std::move(optimizer),
                                                   Travel{}, period);
          },
          plain, ranks);
      for (const auto& got : trained.parameters) EXPECT_EQ(got, wanted);
      EXPECT_EQ(trained.sent.bytes, kSteps / period * 2 * (ranks - 1) * kBytes);
    }
  }
}

/// The numbers of ranks that are pulled to 0, 1, 2 ... after three steps of a
/// scheme.
std::vector<double> PulledApart(const MakeScheme& make, int ranks) {
  std::vector<PulledObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) objectives.emplace_back(5, rank, 1);
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) {
    PulledObjective& objective = objectives[static_cast<size_t>(mine.rank())];
    const auto scheme = make(mine, Made("gradient_descent"));
    for (int i = 0; i < 3; ++i) {
      ASSAY_RETURN_IF_ERROR(scheme->Step(objective).status());
    }
    return scheme->Finish(objective);
  });
  std::vector<double> numbers;
  for (const PulledObjective& each : objectives)
    numbers.push_back(each.number());
  return numbers;
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
  EXPECT_EQ(PulledApart(
                [](Endpoint& mine, auto optimizer) {
                  return std::make_unique<ServerScheme>(
                      mine, std::move(optimizer), Travel{Algorithm::kLinear});
                },
                kRanks),
            all);
  EXPECT_EQ(PulledApart(
                [](Endpoint& mine, auto optimizer) {
                  return std::make_unique<AllReduceScheme>(
                      mine, std::move(optimizer), Travel{});
                },
                kRanks),
            all);
  EXPECT_EQ(PulledApart(
                [](Endpoint& mine, auto optimizer) {
                  return std::make_unique<ScatteredScheme>(
                      mine, std::move(optimizer), Travel{});
                },
                kRanks),
            all);
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

/// The numbers of all ranks after a run.
std::vector<double> Gossiped(Graph graph,
                             std::vector<PulledObjective> objectives,
                             int steps) {
  const auto ended =
      RunThreads(static_cast<int>(objectives.size()), [&](Endpoint& mine) {
        GossipScheme scheme(mine, Made("gradient_descent"), graph);
        for (int i = 0; i < steps; ++i) {
          const auto loss =
              scheme.Step(objectives[static_cast<size_t>(mine.rank())]);
          ASSAY_RETURN_IF_ERROR(loss.status());
        }
        return OkStatus();
      });
  std::vector<double> numbers;
  for (const PulledObjective& each : objectives)
    numbers.push_back(each.number());
  return numbers;
}

/// A wave of whole periods along the rows and the columns of the grid.
struct Wave {
  int along_rows, along_columns;
};

double Angle(Wave wave, Graph graph, int rank, int ranks) {
  const int rows = RowsOf(graph, ranks);
  const int columns = ranks / rows;
  return 2 * std::numbers::pi *
         (static_cast<double>(wave.along_rows * (rank / columns)) / rows +
          static_cast<double>(wave.along_columns * (rank % columns)) / columns);
}

/// The factor of a wave in one mixing.
double WaveFactor(Graph graph, Wave wave, int ranks) {
  double real = 1;
  double imaginary = 0;
  for (const Peer& peer : PeersOf(graph, 0, ranks, 0)) {
    const double angle = Angle(wave, graph, peer.from, ranks);
    real += peer.weight * (std::cos(angle) - 1);
    imaginary += peer.weight * std::sin(angle);
  }
  return std::hypot(real, imaginary);
}

constexpr Graph kGraphs[] = {Graph::kRing, Graph::kComplete,
                             Graph::kExponential, Graph::kOnePeerExponential,
                             Graph::kTorus};

void ExpectShrinks(Graph graph, Wave wave, int ranks) {
  std::vector<PulledObjective> objectives;
  double before = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double x = std::cos(Angle(wave, graph, rank, ranks));
    objectives.emplace_back(x, 0, /*pull=*/0);
    before += x * x;
  }
  double after = 0;
  for (const double x : Gossiped(graph, objectives, 1)) after += x * x;
  EXPECT_NEAR(std::sqrt(after / before), WaveFactor(graph, wave, ranks), 1e-12)
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
      std::vector<PulledObjective> objectives;
      for (int rank = 0; rank < ranks; ++rank) {
        objectives.emplace_back(rank * rank, 0, 0);
      }
      double before = 0;
      for (const PulledObjective& each : objectives) before += each.number();
      double after = 0;
      for (const double x : Gossiped(graph, objectives, 7)) after += x;
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

}  // namespace
}  // namespace assay::ranks
