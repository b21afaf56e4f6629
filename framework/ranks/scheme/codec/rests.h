// SPDX-License-Identifier: Apache-2.0
//
// Rests: the residuals of a rank, the parts of its gradients that it has not
// sent, which it adds to its next gradients.
//
//   Rests rests;
//   const Rests::Send nothing = [](std::span<float>,
//                                  std::span<float> gradient) {
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

/// Error feedback. Source: S. Stich, J. Cordonnier, M. Jaggi, "Sparsified SGD
/// with memory", 2018.
class Rests {
 public:
  /// Called for each gradient in turn: `rest` has all that should be sent, and
  /// keeps what was not; `gradient` becomes the mean of what all ranks send.
  /// Both have the gradient's elements.
  using Send =
      std::function<Status(std::span<float> rest, std::span<float> gradient)>;

  /// Takes a step of the optimizer. Unsupported for gradients of a type other
  /// than float32.
  Result<double> Step(train::Objective& objective, train::Optimizer& optimizer,
                      const Send& send);

  std::span<const std::vector<float>> of_gradients() const { return rests_; }

 private:
  std::vector<std::vector<float>> rests_;
};

}  // namespace assay::ranks
