// SPDX-License-Identifier: Apache-2.0
//
// NetworkObjective: a network with its loss, on the batch that was put into it.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto objective, NetworkObjective::Load(backend, {model, weights}));
//   ASSAY_RETURN_IF_ERROR(objective->Put(batch));  // images and labels
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(*objective));
//
// The model's parameters are inputs and it has a loss (graph/edit/training.h).
// They stay in the memory that the optimizer writes: nothing is copied in a
// step but running statistics, which are small, and no memory is taken in one.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

/// A tensor that each evaluation for training makes anew: an input, and the
/// output that is fed back into it.
struct Statistic {
  std::string name, next;
  Tensor value;
};

/// An input that drops: drawn anew at each step (DrawMask).
struct Mask {
  std::string name;
  double ratio = 0;
};

/// The model to be trained. Each parameter is named as an input of the model.
struct Trainee {
  std::shared_ptr<const Model> model;
  std::vector<Parameter> parameters;
  std::string loss = "loss";                    // an output of one element
  std::map<std::string, std::string> settings;  // of the backend
  std::vector<Statistic> statistics = {};
  std::vector<Mask> masks = {};
  uint64_t seed = 0;  // of masks
  /// The model that evaluates a test set: of the same inputs but for masks,
  /// with the loss and the first output of `model`. Null: `model` itself.
  std::shared_ptr<const Model> inference = nullptr;
};

/// It owns its networks; the backend must live as long.
class NetworkObjective : public Objective {
 public:
  /// Not found for a parameter, a statistic, a mask or a loss that the model
  /// does not have; unsupported where the backend declines a model, or has no
  /// gradients.
  static Result<std::unique_ptr<NetworkObjective>> Load(Backend& backend,
                                                        Trainee trainee);

  std::span<Parameter> parameters() override { return trainee_.parameters; }

  /// Sets the place of the next evaluations: the step from 0, and the part of
  /// its batch. All evaluations at one place have the same masks.
  void At(int64_t step, int64_t part = 0) { at_ = {step, part}; }

  /// A tensor for each input that is none of the trainee's, in the order of the
  /// model. Copied; a batch of other shapes than the one before is bound anew
  /// by the next evaluation.
  Status Put(std::span<const Tensor> batch);

  /// Feeds statistics back when the gradients are taken. Failed precondition
  /// before the first Put.
  Result<Evaluation> Evaluate() override;
  /// The gradients of the last evaluation, in the order of parameters; none
  /// before the first evaluation.
  std::span<const Value> gradients() const { return gradients_; }
  /// The loss alone, in inference form; nothing changes by it.
  Result<double> Infer();

  /// The outputs of the last evaluation, in the order of its model's outputs;
  /// none before the first evaluation.
  std::span<const Value> outputs() const;

  /// Running statistics for a checkpoint, which is written into them to go on.
  std::vector<StateTensor> Statistics() const;
  /// The masks of the last evaluation for training, in the order of their
  /// names.
  std::span<const Tensor> masks() const { return masks_; }
  std::span<const Mask> mask_names() const { return trainee_.masks; }

 private:
  struct Form {
    std::unique_ptr<Network> network;
    size_t loss_place = 0;  // among the outputs
    std::unique_ptr<Binding> binding;
  };
  struct Place {
    int64_t step = 0, part = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  explicit NetworkObjective(Trainee trainee) : trainee_(std::move(trainee)) {}

  Status LoadInference(Backend& backend);
  Status FindParts();
  Status Bind(Form* form);
  Result<double> Forward(Form* form);
  Status TakeMasks();
  Status DrawMasks();
  Status BindGradients();
  Status FeedBack();
  Status Lend();
  Result<Value> ValueOf(const std::string& input) const;
  Form& inferring() { return tested_.network == nullptr ? trained_ : tested_; }

  Trainee trainee_;
  Form trained_, tested_;  // without a network where there is one form
  std::vector<size_t> batch_places_;  // among the inputs of trained_
  std::vector<size_t> next_places_;   // of statistics, among its outputs
  std::vector<Tensor> batch_;
  bool is_put_ = false;
  std::vector<Tensor> masks_;
  Place at_;
  std::optional<Place> drawn_at_;
  std::vector<Value> gradients_;
  std::unique_ptr<GradientBinding> bound_;
  std::vector<Tensor> lent_;  // those of bound_
  const Form* last_ = nullptr;
};

}  // namespace assay::train
