// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/push_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {
namespace {

/// The numbers and weights of ranks after a run.
struct Pushed {
  std::vector<double> numbers, weights;
  int64_t bytes = 0;  // of all ranks
};

/// Ranks begin at the squares of their numbers, and each is pulled to its
/// number.
Pushed PushedBy(Directed graph, int ranks, int steps, double pull) {
  std::vector<PulledObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) {
    objectives.emplace_back(rank * rank, rank, pull);
  }
  Pushed pushed;
  pushed.weights.resize(objectives.size());
  std::vector<int64_t> bytes(objectives.size());
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) {
    const auto rank = static_cast<size_t>(mine.rank());
    WatchedEndpoint watched(mine);
    PushSumScheme scheme(watched, Made("gradient_descent"), graph);
    for (int i = 0; i < steps; ++i) {
      ASSAY_RETURN_IF_ERROR(scheme.Step(objectives[rank]).status());
    }
    pushed.weights[rank] = scheme.weight();
    bytes[rank] = watched.sent().bytes;
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  for (const PulledObjective& each : objectives)
    pushed.numbers.push_back(each.number());
  for (const int64_t each : bytes) pushed.bytes += each;
  return pushed;
}

double MeanOfSquares(int ranks) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += rank * rank;
  return sum / ranks;
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
    double sum = 0;
    for (const double weight : pushed.weights) sum += weight;
    EXPECT_NEAR(sum, ranks, 1e-12 * ranks);
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
  double sum = 0;
  for (const double number : pushed.numbers) sum += number;
  EXPECT_NEAR(sum / kRanks, 3.5, 1e-9);
}

TEST(HopsOfTest, AreThoseOfTheGraph) {
  EXPECT_TRUE(HopsOf(Directed::kUneven, 0, 1, 0).empty());
  EXPECT_EQ(HopsOf(Directed::kUneven, 0, 2, 0), std::vector{1});
  EXPECT_EQ(HopsOf(Directed::kUneven, 2, 5, 0), (std::vector{1, 2}));
  EXPECT_EQ(HopsOf(Directed::kUneven, 3, 5, 0), std::vector{1});
  EXPECT_EQ(HopsOf(Directed::kOnePeer, 3, 5, 2), std::vector{4});
  EXPECT_EQ(HopsOf(Directed::kOnePeer, 3, 5, 3), std::vector{1});
}

}  // namespace
}  // namespace assay::ranks
