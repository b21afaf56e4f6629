// SPDX-License-Identifier: Apache-2.0
//
// Models for training: parameters as inputs, a loss behind the outputs, and the
// inference form of a model turned into one that is trained.
//
//   ASSAY_ASSIGN_OR_RETURN(auto open, AsInputs(*model, parameters));
//   ASSAY_ASSIGN_OR_RETURN(
//       auto trained, WithLoss(*open, {.loss = Loss::kSoftmaxCrossEntropy}));
//   // inputs: those of the model, parameters, targets; outputs: ..., loss
//
// Who trains keeps the parameters in memory that is bound, and asks for the
// gradients of inputs, so that every backend that has these can be trained.
// Nothing is drawn by a backend or kept in one: all drop the same, and a run's
// statistics are the trainer's to keep.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// The model whose named initializers are inputs, behind the inputs that it has
/// and in this order, of the types and shapes of the initializers. Not found
/// for a name that is no initializer of the main graph.
Result<std::shared_ptr<const Model>> AsInputs(
    const Model& model, std::span<const std::string> initializers);

enum class Loss : uint8_t {
  /// ONNX's operator: targets are the classes, int64[N].
  kSoftmaxCrossEntropy,
  /// The same of LogSoftmax, Mul and ReduceSum, for a backend without that
  /// operator: targets are rows of zeros with a one at the class, or of zeros
  /// alone for a sample that does not count.
  kSoftmaxCrossEntropyOfOneHot,
  /// ONNX's operator on an output of logarithms of probabilities, as LogSoftmax
  /// gives them; targets as of kSoftmaxCrossEntropy.
  kNegativeLogLikelihood,
  /// The same of Mul and ReduceSum, with rows as targets.
  kNegativeLogLikelihoodOfOneHot,
  /// The mean of the squares of output less target.
  kMeanSquaredError,
};

struct LossEdit {
  Loss loss = Loss::kSoftmaxCrossEntropy;
  /// An output of the graph, [N, C] of float32 or float64; empty: the first.
  std::string of;
  /// The sum of the samples' losses in place of their mean, which is over the
  /// weights of the samples that count.
  bool sum = false;
  /// A weight for each class, [C]; of the output's type.
  std::optional<Tensor> weights;
  /// The class that does not count; of the two losses that take classes.
  std::optional<int64_t> ignore_index;
  std::string targets = "targets";  // the new input
  std::string result = "loss";      // the new output, a scalar
};

/// The model with a loss: one more input, one more output, both last. Not found
/// for an output that there is not; invalid argument where that is not a matrix
/// of a known type, for names that the graph has, and for weights of another
/// form; unsupported, reason opset, before version 13 of ai.onnx.
Result<std::shared_ptr<const Model>> WithLoss(const Model& model,
                                              const LossEdit& edit);

/// A running statistic of BatchNormalization: the input that has it, and the
/// output that is to be in that input behind a step.
struct FedBack {
  std::string input, output;
  Tensor first;  // of the initializer that it was; undefined for an input
};

/// The factors of a Dropout: 0 where an element is dropped, 1 / (1 - ratio)
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
