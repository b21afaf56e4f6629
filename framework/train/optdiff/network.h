// SPDX-License-Identifier: Apache-2.0
//
// TrainedNetwork: a small network with its loss, first parameters and batches.
// Its numbers are the same in each element type.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const TrainedNetwork mlp,
//       MakeNetwork("mlp", DType::kFloat32, draw::Draw("mlp", 0, "network")));

#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// A network that optimizers are tried on, by name.
struct NetworkName {
  std::string_view name;
  std::string_view what;  // a line about it
};

/// quadratic, logistic, mlp and cnn.
std::span<const NetworkName> Networks();

struct TrainedNetwork {
  /// Inputs: x, the parameters, targets; outputs: y, [N, ...], and loss, a
  /// scalar.
  std::shared_ptr<const Model> model;
  std::vector<train::Parameter> parameters;
  /// The tensors of x and targets of each batch.
  std::vector<std::vector<Tensor>> batches;
};

/// Makes a network in float32 or float64; its numbers are exact in both. The
/// loss is the mean over the samples, or with `is_sum` their sum. Invalid
/// argument for another name or type.
Result<TrainedNetwork> MakeNetwork(std::string_view name, DType type,
                                   draw::Draw draw, bool is_sum = false);

}  // namespace assay::optdiff
