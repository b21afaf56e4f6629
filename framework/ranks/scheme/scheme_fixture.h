// SPDX-License-Identifier: Apache-2.0
//
// For tests of schemes: trains a model whose gradients are whole numbers, by
// ranks together, and by one rank that has the batches of all.
//
//   const Trained trained = TrainedBy(make, "adam", /*ranks=*/8);
//   EXPECT_EQ(trained.parameters[3], Alone("adam", 8));

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/model/pulled_objective.h"
#include "framework/ranks/model/whole_objective.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/watch.h"
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

struct Trained {
  std::vector<std::vector<float>> parameters;  // of each rank
  Traffic sent;                                // of all ranks, in all steps
};

inline Trained TrainedBy(const MakeScheme& make, const std::string& optimizer,
                         int ranks) {
  std::vector<WholeObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) objectives.emplace_back(rank, ranks);
  std::vector<Traffic> sent(static_cast<size_t>(ranks));
  DrawnChoices drawn(9);
  const auto ended = RunThreads(
      ranks,
      [&](Endpoint& mine) {
        WatchedEndpoint watched(mine);
        const auto rank = static_cast<size_t>(mine.rank());
        const auto scheme = make(watched, Made(optimizer));
        for (int i = 0; i < kSteps; ++i) {
          ASSAY_RETURN_IF_ERROR(scheme->Step(objectives[rank]).status());
        }
        sent[rank] = watched.sent();
        return scheme->Finish(objectives[rank]);
      },
      &drawn);
  Trained trained;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto place = static_cast<size_t>(rank);
    EXPECT_TRUE(ended[place].ok()) << ended[place].ToString();
    trained.parameters.push_back(objectives[place].Numbers());
    trained.sent.bytes += sent[place].bytes;
    trained.sent.messages += sent[place].messages;
  }
  return trained;
}

inline constexpr int64_t kBytes = 4 * (kSizes[0] + kSizes[1]);  // of a model

/// The names of all optimizers.
inline std::vector<std::string> Optimizers() {
  std::vector<std::string> names;
  for (const std::string_view name : train::OptimizerNames()) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace assay::ranks
