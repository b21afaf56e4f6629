// SPDX-License-Identifier: Apache-2.0
//
// ExactGradients: a network's loss and its gradients by an oracle, for those of a
// backend that are farther from the judge's than roundings seem to explain.
//
//   ASSAY_ASSIGN_OR_RETURN(auto exact, ExactGradients::Load(oracle, model));
//   ASSAY_ASSIGN_OR_RETURN(const std::string fault,
//                          exact->FaultOf({batch, parameters}, gradients));
//
// An element may be off by its limit in condition units (framework/testing/limit),
// by the oracle's bound, and by the hull of all that is right at a kink.

#pragma once

#include <memory>
#include <span>
#include <string>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/train/optdiff/judge_network.h"

namespace assay::optdiff {

class ExactGradients {
 public:
  /// Unsupported where the oracle has no exact evaluation of the network, whose
  /// roundings are those of its own type.
  static Result<std::unique_ptr<ExactGradients>> Load(
      Backend& oracle, std::shared_ptr<const Model> model);

  /// "element 0 is 1, wanted 2 within 1e-06" where the loss is beyond its limit.
  Result<std::string> FaultOfLoss(const Place& place, double loss, DType type);

  /// "'w': element 3 is 1, wanted 2 within 1e-06", the first that is beyond its
  /// limit; empty where none is. `gradients` are in the order of the parameters.
  Result<std::string> FaultOf(const Place& place,
                              std::span<const Tensor> gradients);

 private:
  Result<std::unique_ptr<ExactRun>> At(const Place& place);

  ExactGradients(std::shared_ptr<const Model> model,
                 std::unique_ptr<Network> network)
      : model_(std::move(model)), network_(std::move(network)) {}

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Network> network_;
};

}  // namespace assay::optdiff
