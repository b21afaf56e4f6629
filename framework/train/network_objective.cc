// SPDX-License-Identifier: Apache-2.0

#include "framework/train/network_objective.h"

#include <algorithm>
#include <utility>

#include "framework/backend/network_interfaces.h"
#include "framework/train/in_place.h"

namespace assay::train {
namespace {

/// The element of a loss.
Result<double> NumberOf(const Value& loss) {
  const Tensor* const tensor = loss.tensor();
  if (tensor != nullptr && tensor->num_elements() == 1) {
    if (tensor->dtype() == DType::kFloat32) {
      return double{tensor->elements<float>()[0]};
    }
    if (tensor->dtype() == DType::kFloat64) {
      return tensor->elements<double>()[0];
    }
  }
  return InvalidArgument("the loss is ", loss.Type().ToString(),
                         ", wanted one element of float32 or float64");
}

/// A tensor of ones like the loss.
Result<Tensor> OnesLike(const Tensor& loss) {
  ASSAY_ASSIGN_OR_RETURN(Tensor ones,
                         Tensor::Allocate(loss.dtype(), loss.shape()));
  ASSAY_RETURN_IF_ERROR(InPlace(
      &ones, ones, {}, [](const auto& each) { std::ranges::fill(each.x, 1); }));
  return ones;
}

Result<size_t> PlaceOf(std::span<const ValueInfo> infos,
                       const std::string& name, const char* what) {
  const auto found = std::ranges::find(infos, name, &ValueInfo::name);
  if (found == infos.end()) {
    return NotFound("the model has no ", what, " '", name, "'");
  }
  return static_cast<size_t>(found - infos.begin());
}

}  // namespace

Result<std::unique_ptr<NetworkObjective>> NetworkObjective::Load(
    Backend& backend, Trainee trainee) {
  LoadOptions options;
  options.settings = trainee.settings;
  for (const Parameter& parameter : trainee.parameters) {
    options.gradient_targets.push_back(parameter.name);
  }
  ASSAY_ASSIGN_OR_RETURN(auto network, backend.Load(trainee.model, options));
  if (network == nullptr) return Internal("the backend loaded nothing");
  std::unique_ptr<NetworkObjective> objective(
      new NetworkObjective(std::move(trainee), std::move(network)));
  ASSAY_RETURN_IF_ERROR(objective->FindParts());
  if (objective->network_->differentiable() == nullptr) {
    return Unsupported(Reason::kGradient, "the backend has no gradients");
  }
  return objective;
}

Status NetworkObjective::FindParts() {
  const std::span<const ValueInfo> inputs = network_->inputs();
  for (const Parameter& parameter : trainee_.parameters) {
    ASSAY_ASSIGN_OR_RETURN(const size_t place,
                           PlaceOf(inputs, parameter.name, "input"));
    parameter_places_.push_back(place);
  }
  for (size_t place = 0; place < inputs.size(); ++place) {
    if (std::ranges::count(parameter_places_, place) == 0) {
      batch_places_.push_back(place);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(loss_place_,
                         PlaceOf(network_->outputs(), trainee_.loss, "output"));
  return OkStatus();
}

Status NetworkObjective::Bind(std::span<const Tensor> batch) {
  bound_.reset();
  binding_.reset();
  inputs_.assign(network_->inputs().size(), Value());
  for (size_t i = 0; i < batch.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(inputs_[batch_places_[i]], batch[i].Clone());
  }
  for (size_t i = 0; i < parameter_places_.size(); ++i) {
    inputs_[parameter_places_[i]] = trainee_.parameters[i].value;
  }
  ASSAY_ASSIGN_OR_RETURN(binding_, network_->Bind(inputs_, {}));
  if (binding_ == nullptr) return Internal("the backend bound nothing");
  return OkStatus();
}

Status NetworkObjective::Put(std::span<const Tensor> batch) {
  if (batch.size() != batch_places_.size()) {
    return InvalidArgument("found ", batch.size(),
                           " tensors of a batch, wanted ",
                           batch_places_.size());
  }
  bool is_bound = binding_ != nullptr;
  for (size_t i = 0; i < batch.size() && is_bound; ++i) {
    const Tensor& held = *inputs_[batch_places_[i]].tensor();
    is_bound =
        held.dtype() == batch[i].dtype() && held.shape() == batch[i].shape();
  }
  if (!is_bound) return Bind(batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    std::ranges::copy(
        batch[i].bytes(),
        inputs_[batch_places_[i]].mutable_tensor()->mutable_data());
  }
  return OkStatus();
}

Status NetworkObjective::BindGradients() {
  std::vector<Value> cotangents(binding_->outputs().size());
  const Tensor* const loss = binding_->outputs()[loss_place_].tensor();
  ASSAY_ASSIGN_OR_RETURN(cotangents[loss_place_], OnesLike(*loss));
  std::vector<std::string> targets;
  gradients_.clear();
  for (const Parameter& parameter : trainee_.parameters) {
    targets.push_back(parameter.name);
    ASSAY_ASSIGN_OR_RETURN(
        Tensor gradient,
        Tensor::Allocate(parameter.value.dtype(), parameter.value.shape()));
    gradients_.emplace_back(std::move(gradient));
  }
  ASSAY_ASSIGN_OR_RETURN(
      bound_, network_->differentiable()->BindBackward(*binding_, cotangents,
                                                       targets, gradients_));
  if (bound_ == nullptr) return Internal("the backend bound no gradients");
  return OkStatus();
}

Result<double> NetworkObjective::Infer() {
  if (binding_ == nullptr) {
    return FailedPrecondition("no batch was put before the first step");
  }
  ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
  ASSAY_RETURN_IF_ERROR(network_->Synchronize());
  return NumberOf(binding_->outputs()[loss_place_]);
}

Result<Evaluation> NetworkObjective::Evaluate() {
  Evaluation evaluation;
  ASSAY_ASSIGN_OR_RETURN(evaluation.loss, Infer());
  if (bound_ == nullptr) ASSAY_RETURN_IF_ERROR(BindGradients());
  ASSAY_RETURN_IF_ERROR(network_->differentiable()->RunBackward(*bound_));
  ASSAY_RETURN_IF_ERROR(network_->Synchronize());
  for (const Value& gradient : bound_->gradients()) {
    if (gradient.tensor() == nullptr) {
      return Internal("a gradient of the backend is no tensor");
    }
    evaluation.gradients.push_back(*gradient.tensor());
  }
  return evaluation;
}

}  // namespace assay::train
