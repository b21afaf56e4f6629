// SPDX-License-Identifier: Apache-2.0
//
// ExactGradients: a network's loss and gradients by an oracle. It decides on
// those of a backend that are farther from the judge's than roundings seem to
// explain.
//
//   ASSAY_ASSIGN_OR_RETURN(auto exact, ExactGradients::Load(oracle, model));
//   ASSAY_ASSIGN_OR_RETURN(const std::string fault,
//                          exact->FaultOf({batch, parameters}, gradients));
//
// An element may be off by its limit in condition units
// (framework/testing/limit) and by the oracle's bound. At a kink all that lies
// in the hull is right.

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
  /// Unsupported where the oracle has no exact evaluation of the network.
  static Result<std::unique_ptr<ExactGradients>> Load(
      Backend& oracle, std::shared_ptr<const Model> model);

  /// Says "element 0 is 1, wanted 2 within 1e-06" where the loss is beyond its
  /// limit; empty where it is not.
  Result<std::string> FaultOfLoss(const Place& place, double loss, DType type);

  /// Names the first element beyond its limit, "'w': element 3 is 1, wanted 2
  /// within 1e-06"; empty where none is. `gradients` are in the order of the
  /// parameters.
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
