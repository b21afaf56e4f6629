// SPDX-License-Identifier: Apache-2.0
//
// Between: a rank's objective with communication around each evaluation.
//
//   const Between::Behind behind = [](std::span<Tensor> gradients) {
//     Use(gradients);
//     return OkStatus();
//   };
//   Between together(objective, {}, behind);
//   ASSAY_RETURN_IF_ERROR(optimizer.Step(together).status());

#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

class Between : public train::Objective {
 public:
  using Before = std::function<Status()>;
  using Behind = std::function<Status(std::span<Tensor> gradients)>;

  /// `before` runs before each evaluation, if it is given, and `behind` after
  /// it on its gradients, in place. `inner` must outlive this.
  Between(train::Objective& inner, Before before, Behind behind)
      : inner_(inner), before_(std::move(before)), behind_(std::move(behind)) {}

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  Result<train::Evaluation> Evaluate() override {
    if (before_) ASSAY_RETURN_IF_ERROR(before_());
    ASSAY_ASSIGN_OR_RETURN(const train::Evaluation evaluation,
                           inner_.Evaluate());
    ASSAY_RETURN_IF_ERROR(behind_(evaluation.gradients));
    return evaluation;
  }

 private:
  train::Objective& inner_;
  Before before_;
  Behind behind_;
};

/// The parameters' tensors, which share their memory.
inline std::vector<Tensor> ValuesOf(train::Objective& objective) {
  std::vector<Tensor> values;
  for (const train::Parameter& each : objective.parameters()) {
    values.push_back(each.value);
  }
  return values;
}

}  // namespace assay::ranks
