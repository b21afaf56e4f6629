// SPDX-License-Identifier: Apache-2.0
//
// NetworkObjective: a network with its loss, on the batch that was put into it.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto objective, NetworkObjective::Load(backend, {model, weights}));
//   ASSAY_RETURN_IF_ERROR(objective->Put({images, labels}));
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(*objective));
//
// The model's parameters are inputs and it has a loss (graph/edit/training.h).
// They stay in the memory that the optimizer writes: nothing is copied in a step.

#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/train/optimizer.h"

namespace assay::train {

/// What is trained. Each parameter is named as an input of the model.
struct Trainee {
  std::shared_ptr<const Model> model;
  std::vector<Parameter> parameters;
  std::string loss = "loss";                    // an output of one element
  std::map<std::string, std::string> settings;  // of the backend
};

/// It owns its network; the backend must live as long.
class NetworkObjective : public Objective {
 public:
  /// Not found for a parameter or a loss that the model does not have; unsupported
  /// where the backend declines the model, or has no gradients.
  static Result<std::unique_ptr<NetworkObjective>> Load(Backend& backend,
                                                        Trainee trainee);

  std::span<Parameter> parameters() override { return trainee_.parameters; }

  /// A tensor for each input that is no parameter, in their order. Copied; a
  /// batch of other shapes than the one before is bound anew.
  Status Put(std::span<const Tensor> batch);

  /// Failed precondition before the first Put.
  Result<Evaluation> Evaluate() override;
  /// Of the last evaluation, in the order of parameters; none before the first.
  std::span<const Value> gradients() const { return gradients_; }
  /// The loss alone.
  Result<double> Infer();

  /// Of the last evaluation, in the order of the model's outputs.
  std::span<const Value> outputs() const { return binding_->outputs(); }

 private:
  NetworkObjective(Trainee trainee, std::unique_ptr<Network> network)
      : trainee_(std::move(trainee)), network_(std::move(network)) {}

  Status FindParts();
  Status Bind(std::span<const Tensor> batch);
  Status BindGradients();

  Trainee trainee_;
  std::unique_ptr<Network> network_;
  std::vector<size_t> batch_places_;      // among the inputs
  std::vector<size_t> parameter_places_;  // of each parameter
  size_t loss_place_ = 0;                 // among the outputs
  std::vector<Value> inputs_;
  std::unique_ptr<Binding> binding_;
  std::vector<Value> gradients_;
  std::unique_ptr<GradientBinding> bound_;
};

}  // namespace assay::train
