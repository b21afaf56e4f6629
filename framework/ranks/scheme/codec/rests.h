// SPDX-License-Identifier: Apache-2.0
//
// Rests: what a rank has not sent yet of its gradients, which it adds to the next ones.
//
//   Rests rests;
//   const Rests::Send nothing = [](std::span<float>, std::span<float> gradient) {
//     std::ranges::fill(gradient, 0.0F);
//     return OkStatus();
//   };
//   ASSAY_RETURN_IF_ERROR(rests.Step(objective, optimizer, nothing).status());

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// Error feedback (S. Stich, J. Cordonnier, M. Jaggi, "Sparsified SGD with memory", 2018).
class Rests {
 public:
  /// Of each gradient in turn: `rest` has all that should be sent, and keeps what was not;
  /// `gradient` becomes the mean of what all ranks send. Both are as long.
  using Send =
      std::function<Status(std::span<float> rest, std::span<float> gradient)>;

  /// A step of the optimizer. Unsupported for gradients of another type than float32.
  Result<double> Step(train::Objective& objective, train::Optimizer& optimizer,
                      const Send& send);

  std::span<const std::vector<float>> of_gradients() const { return rests_; }

 private:
  std::vector<std::vector<float>> rests_;
};

}  // namespace assay::ranks
