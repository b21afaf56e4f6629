// SPDX-License-Identifier: Apache-2.0
//
// PulledObjective: one number in float64 that is pulled to a goal. Without a
// pull only the messages of other ranks move it.
//
//   PulledObjective still(/*start=*/3, /*goal=*/0, /*pull=*/0);

#pragma once

#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

class PulledObjective : public train::Objective {
 public:
  /// The gradient is `pull` * (number - `goal`).
  PulledObjective(double start, double goal, double pull)
      : goal_(goal), pull_(pull) {
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

}  // namespace assay::ranks
