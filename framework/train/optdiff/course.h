// SPDX-License-Identifier: Apache-2.0
//
// Course: a judged training run as data: a network in its own type and in
// float64, its first parameters, and the batches of its steps; and the small
// networks that optimizers are tried on.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// A line about a network that optimizers are tried on: quadratic, logistic,
/// mlp or cnn; empty for another name.
std::string_view AboutNetwork(std::string_view name);

/// A small network with its loss, first parameters and batches. Its numbers are
/// the same in each element type.
struct TrainedNetwork {
  /// Inputs: x, the parameters, targets; outputs: y, [N, ...], and loss, a
  /// scalar.
  std::shared_ptr<const Model> model;
  std::vector<train::Parameter> parameters;
  std::vector<std::vector<Tensor>> batches;
};

/// Makes a network in float32 or float64; its numbers are exact in both. The
/// loss is the mean over the samples, or with `is_sum` their sum. Invalid
/// argument for another name or type.
Result<TrainedNetwork> MakeNetwork(std::string_view name, DType type,
                                   draw::Draw draw, bool is_sum = false);

struct StepBatch {
  std::vector<Tensor> narrow, wide;
};

struct Course {
  std::string name;
  train::Trainee narrow, wide;  // each runs in its training form alone
  /// The batch of a step, counted from 1.
  std::function<Result<StepBatch>(int64_t step)> batch;
  int64_t steps = 0;
};

/// Parameters of the same numbers in float64.
Result<std::vector<train::Parameter>> Widened(
    std::span<const train::Parameter> narrow);

/// A network of MakeNetwork in its type, and with the same numbers in float64.
Result<Course> MakeCourse(std::string_view network, DType type,
                          const draw::Draw& draw, int64_t steps,
                          bool is_sum = false);

/// Loads a network on a backend, with parameters and statistics of its own.
/// Declines as NetworkObjective::Load does.
Result<std::unique_ptr<train::NetworkObjective>> Load(
    const train::Trainee& trainee, Backend& backend);

}  // namespace assay::optdiff
