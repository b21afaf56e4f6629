// SPDX-License-Identifier: Apache-2.0
//
// What the tests of schemes train: a model whose gradients are whole numbers, by ranks
// together, and by one rank that has the batches of all.
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
#include "framework/dist/endpoint.h"
#include "framework/dist/scheme/scheme.h"
#include "framework/dist/threads/threads.h"
#include "framework/dist/watch.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/rule/optimizers.h"

namespace assay::dist {

inline constexpr int kSizes[] = {7, 30};  // elements of the parameters

/// A model whose gradients are whole numbers that depend on the rank and the step alone,
/// so that no order of additions shows; or, for no rank, those of all ranks together.
class WholeObjective : public train::Objective {
 public:
  WholeObjective(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    for (const int size : kSizes) {
      std::vector<float> start;
      for (int i = 0; i < size; ++i) start.push_back(static_cast<float>(i % 5));
      parameters_.push_back(
          {StrCat("w", size),
           Tensor::Of<float>({size}, std::span<const float>(start)).value()});
      gradients_.push_back(Tensor::Allocate(DType::kFloat32, {size}).value());
    }
  }

  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    for (size_t p = 0; p < gradients_.size(); ++p) {
      const auto gradient = gradients_[p].mutable_elements<float>();
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = rank_ == kNobody ? Mean(p, i) : Of(rank_, p, i);
      }
    }
    ++steps_;
    return train::Evaluation{static_cast<double>(rank_), gradients_};
  }

  std::vector<float> Numbers() const {
    std::vector<float> all;
    for (const train::Parameter& each : parameters_) {
      const auto elements = each.value.elements<float>();
      all.insert(all.end(), elements.begin(), elements.end());
    }
    return all;
  }

 private:
  float Of(int rank, size_t p, size_t i) const {
    core::Numbers drawn(
        core::KeyOf(core::KeyOf(static_cast<uint64_t>(rank), steps_),
                    static_cast<int64_t>(100 * p + i)));
    return static_cast<float>(drawn.Below(17)) - 6;
  }
  float Mean(size_t p, size_t i) const {
    float sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += Of(rank, p, i);
    return sum / static_cast<float>(ranks_);
  }

  const int rank_, ranks_;
  int64_t steps_ = 0;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

inline std::unique_ptr<train::Optimizer> Made(const std::string& name) {
  return train::MakeOptimizer({name, "paper", "rate=0.125"}).value().optimizer;
}

inline constexpr int kSteps = 5;

/// The parameters of one rank that has the batches of all.
inline std::vector<float> Alone(const std::string& optimizer, int ranks) {
  WholeObjective objective(kNobody, ranks);
  const auto made = Made(optimizer);
  for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(made->Step(objective).ok());
  return objective.Numbers();
}

/// An objective of one number in float64, pulled to a goal.
class Pulled : public train::Objective {
 public:
  Pulled(double start, double goal, double pull) : goal_(goal), pull_(pull) {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{start}).value()});
    gradient_ = Tensor::Allocate(DType::kFloat64, {1}).value();
  }
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    gradient_.mutable_elements<double>()[0] = pull_ * (number() - goal_);
    return train::Evaluation{0, {&gradient_, 1}};
  }
  double number() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  const double goal_, pull_;
  std::vector<train::Parameter> parameters_;
  Tensor gradient_;
};

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

}  // namespace assay::dist
