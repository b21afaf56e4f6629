// SPDX-License-Identifier: Apache-2.0
//
// For tests of schemes: trains a model whose gradients are whole numbers, by
// ranks together, and by one rank that has the batches of all.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/scheme/objectives.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/ranks/threads/threads.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/rule/optimizers.h"

namespace assay::ranks {

inline constexpr auto& kSizes = WholeObjective::kSizes;

inline std::unique_ptr<train::Optimizer> Made(const std::string& name) {
  return train::MakeOptimizer({name, "paper", "rate=0.125"}).value().optimizer;
}

inline constexpr int kSteps = 5;

/// The parameters that one rank trains on the batches of all, with several
/// batches of each in a step.
inline std::vector<float> Alone(const std::string& optimizer, int ranks,
                                int64_t batches = 1) {
  WholeObjective objective(kNobody, ranks, batches);
  const auto made = Made(optimizer);
  for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(made->Step(objective).ok());
  return objective.Numbers();
}

using MakeScheme = std::function<std::unique_ptr<Scheme>(
    Endpoint&, std::unique_ptr<train::Optimizer>)>;

/// Makes schemes of type S, with these arguments after the first two.
template <class S, class... Args>
MakeScheme Making(Args... args) {
  return [=](Endpoint& mine, std::unique_ptr<train::Optimizer> optimizer) {
    return std::make_unique<S>(mine, std::move(optimizer), args...);
  };
}

inline Traffic SumOf(const std::vector<Traffic>& sent) {
  Traffic sum;
  for (const Traffic& each : sent) {
    sum.bytes += each.bytes;
    sum.messages += each.messages;
  }
  return sum;
}

/// Trains an objective on each rank by the scheme that `make` makes for it, and
/// returns what all have sent in their steps, after which `look` sees each
/// scheme and its rank.
template <class Objective>
Traffic TrainEach(std::vector<Objective>& objectives, int64_t steps,
                  const auto& make, Choices* choices, const auto& look) {
  std::vector<Traffic> sent(objectives.size());
  const auto ended = RunThreads(
      static_cast<int>(objectives.size()),
      [&](Endpoint& mine) {
        WatchedEndpoint watched(mine);
        const auto rank = static_cast<size_t>(mine.rank());
        const auto scheme = make(watched);
        for (int64_t i = 0; i < steps; ++i) {
          ASSAY_RETURN_IF_ERROR(scheme->Step(objectives[rank]).status());
        }
        look(*scheme, rank);
        sent[rank] = watched.sent();
        return scheme->Finish(objectives[rank]);
      },
      choices);
  EXPECT_THAT(ended, kAllWell);
  return SumOf(sent);
}

inline constexpr auto kLookAway = [](const auto&, size_t) {};

/// The numbers that objectives end with, trained by plain descent.
inline std::vector<double> NumbersBy(const MakeScheme& make,
                                     std::vector<PulledObjective> objectives,
                                     int steps) {
  TrainEach(
      objectives, steps,
      [&](Endpoint& mine) { return make(mine, Made("gradient_descent")); },
      /*choices=*/nullptr, kLookAway);
  std::vector<double> numbers;
  for (const auto& each : objectives) numbers.push_back(each.number());
  return numbers;
}

inline std::vector<WholeObjective> WholeObjectives(int ranks) {
  std::vector<WholeObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) objectives.emplace_back(rank, ranks);
  return objectives;
}

/// The mean of the squares of the numbers of all ranks.
inline double MeanOfSquares(int ranks) {
  return (ranks - 1) * (2.0 * ranks - 1) / 6;
}

/// Each begins at the square of its rank, and is pulled to a multiple of it.
inline std::vector<PulledObjective> FromSquares(int ranks, double pull,
                                                int goal_of_rank = 0) {
  std::vector<PulledObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) {
    objectives.emplace_back(rank * rank, goal_of_rank * rank, pull);
  }
  return objectives;
}

inline double TotalOf(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

struct Trained {
  std::vector<std::vector<float>> parameters;  // of each rank
  Traffic sent;                                // of all ranks, in all steps
};

inline Trained TrainedBy(const MakeScheme& make, const std::string& optimizer,
                         int ranks) {
  std::vector<WholeObjective> objectives = WholeObjectives(ranks);
  DrawnChoices drawn(9);
  Trained trained;
  trained.sent = TrainEach(
      objectives, kSteps,
      [&](Endpoint& mine) { return make(mine, Made(optimizer)); }, &drawn,
      kLookAway);
  for (const WholeObjective& each : objectives) {
    trained.parameters.push_back(each.Numbers());
  }
  return trained;
}

inline constexpr int64_t kBytes = 4 * (kSizes[0] + kSizes[1]);  // of a model

inline std::vector<std::string> Optimizers() {
  std::vector<std::string> names;
  for (const std::string_view name : train::OptimizerNames()) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace assay::ranks
