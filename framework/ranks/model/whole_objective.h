// SPDX-License-Identifier: Apache-2.0
//
// WholeObjective: a model whose gradients are whole numbers that depend on rank
// and step alone. No sum of them rounds, so that the parameters that ranks
// train together can be compared bit by bit with those of one rank that has all
// batches.
//
//   WholeObjective mine(/*rank=*/2, /*ranks=*/8);
//   WholeObjective of_all(kNobody, 8);

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

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

}  // namespace assay::ranks
