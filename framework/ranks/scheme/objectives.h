// SPDX-License-Identifier: Apache-2.0
//
// Objectives without a graph, whose right answers are known, for schemes that
// are judged.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// A model whose gradients are whole numbers that depend on rank and step
/// alone. No sum of them rounds, so that the parameters that ranks train
/// together can be compared bit by bit with those of one rank that has all
/// batches.
class WholeObjective : public train::Objective {
 public:
  /// The elements of its two parameters of float32.
  static constexpr int64_t kSizes[] = {7, 30};

  /// With the gradients of `rank`, or, for kNobody, with the mean over all
  /// ranks of so many batches a step.
  WholeObjective(int rank, int ranks, int64_t together = 1);

  std::span<train::Parameter> parameters() override { return parameters_; }
  /// The gradients of the next step. The loss means nothing.
  Result<train::Evaluation> Evaluate() override;

  /// The elements of all parameters, concatenated.
  std::vector<float> Numbers() const;

 private:
  float Of(int rank, int64_t step, size_t parameter, size_t i) const;
  float Mean(size_t parameter, size_t i) const;

  const int rank_, ranks_;
  const int64_t together_;
  int64_t steps_ = 0;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

/// One number in float64 that is pulled to a goal. Without a pull only the
/// messages of other ranks move it.
class PulledObjective : public train::Objective {
 public:
  /// The gradient is `pull` * (number - `goal`) + `steady`.
  PulledObjective(double start, double goal, double pull, double steady = 0)
      : goal_(goal), pull_(pull), steady_(steady) {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{start}).value()});
    gradient_ = Tensor::Allocate(DType::kFloat64, {1}).value();
  }

  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    gradient_.mutable_elements<double>()[0] =
        pull_ * (number() - goal_) + steady_;
    return train::Evaluation{0, {&gradient_, 1}};
  }

  double number() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  const double goal_, pull_, steady_;
  std::vector<train::Parameter> parameters_;
  Tensor gradient_;
};

/// One number whose gradient is the same everywhere: the steps of all ranks add
/// up to one sum in whatever order they are taken.
class SteadyObjective : public PulledObjective {
 public:
  SteadyObjective(double start, double gradient)
      : PulledObjective(start, /*goal=*/0, /*pull=*/0, gradient) {}
};

}  // namespace assay::ranks
