// SPDX-License-Identifier: Apache-2.0
//
// AsTrainingForm: the inference form of a model turned into one that is trained, and
// what its trainer does beside the optimizer's step.
//
//   ASSAY_ASSIGN_OR_RETURN(const TrainingForm form, AsTrainingForm(*resnet));
//   form.statistics[0].input;    // "bn1_mean"
//   form.statistics[0].output;   // "bn1_mean_next", which is fed back
//   form.masks[0].ratio;         // how many of a hundred are dropped, 0 to 1
//
// Nothing in it is drawn by a backend, and nothing is kept in one: all backends drop
// the same, and a run's statistics are the trainer's to keep.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// A running statistic of BatchNormalization: the input that has it, and the
/// output that is to be in that input behind a step.
struct FedBack {
  std::string input, output;
  Tensor first;  // of the initializer that it was; undefined for an input
};

/// What a Dropout multiplies by: 0 where an element is dropped, 1 / (1 - ratio)
/// elsewhere.
struct DropoutMask {
  std::string input;
  double ratio = 0;  // in [0, 1)
  std::string like;  // the value whose type and shape it has
  ValueType type;    // of that value, as far as inference goes
};

struct TrainingForm {
  /// More inputs, behind those that there are: statistics, then masks. More
  /// outputs, behind those that there are: statistics. Each in the order of the
  /// nodes.
  std::shared_ptr<const Model> model;
  /// The model as it was, with the same statistics as inputs.
  std::shared_ptr<const Model> inference;
  std::vector<FedBack> statistics;
  std::vector<DropoutMask> masks;
};

/// Each BatchNormalization of the main graph takes the statistics of its batch
/// and computes the running ones (training_mode=1); each Dropout is a product
/// with a mask. A model with neither stays as it is. Invalid argument for a
/// node that trains or drops already, for statistics that are computed or that
/// two nodes have, for a ratio that is not fixed, and for names that the graph
/// has; unsupported, reason opset, before version 14 of ai.onnx, and reason
/// operator for a node in a subgraph or a function.
Result<TrainingForm> AsTrainingForm(const Model& model);

}  // namespace assay::edit
