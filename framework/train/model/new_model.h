// SPDX-License-Identifier: Apache-2.0
//
// NewModel: a model to train with first values of its parameters, and what a
// backend is given of it.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/graph/edit/training.h"
#include "framework/graph/model.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

struct ModelOptions {
  uint64_t seed = 0;
  DType type = DType::kFloat32;                // or kFloat64
  std::array<int64_t, 3> image = {1, 28, 28};  // channels, rows, columns
  int64_t classes = 10;
};

struct NewModel {
  /// In inference form. Input x, [N, ...]; then the parameters. Running
  /// statistics are initializers. The first output is scores, [N, classes].
  std::shared_ptr<const Model> model;
  std::vector<Parameter> parameters;
};

/// A model whose parameters are initializers: they are those of float32 and
/// float64 that a node reads, without running statistics. Invalid argument
/// where there is none; as edit::AsTrainingForm declines.
Result<NewModel> NewModelOf(const Model& model);

/// The name of the first output where a Softmax gives it: a loss that takes
/// scores has a Softmax of its own. Empty where none does.
std::string SoftmaxAtEnd(const Model& model);

/// Its training form and its inference form, both with the loss, and statistics
/// as the model has them; masks are drawn from the seed. Memory of parameters
/// is shared with the new model. As edit::AsTrainingForm and edit::WithLoss
/// decline.
Result<Trainee> TraineeOf(const NewModel& made, const edit::LossEdit& loss,
                          uint64_t seed);

}  // namespace assay::train
