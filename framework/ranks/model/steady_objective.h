// SPDX-License-Identifier: Apache-2.0
//
// SteadyObjective: one number in float64 whose gradient is the same everywhere.
// The steps of all ranks add up to one sum in whatever order they are taken.
//
//   SteadyObjective objective(/*start=*/64, /*gradient=*/3);

#pragma once

#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

class SteadyObjective : public train::Objective {
 public:
  SteadyObjective(double start, double gradient)
      : gradient_(Tensor::Of<double>({1}, std::vector{gradient}).value()) {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{start}).value()});
  }

  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    return train::Evaluation{0, {&gradient_, 1}};
  }

  double number() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  std::vector<train::Parameter> parameters_;
  Tensor gradient_;
};

}  // namespace assay::ranks
