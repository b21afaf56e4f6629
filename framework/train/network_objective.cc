// SPDX-License-Identifier: Apache-2.0

#include "framework/train/network_objective.h"

#include <algorithm>

#include "framework/backend/network_interfaces.h"
#include "framework/train/data/dataset.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

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

/// The shape of an input whose extents are known, or named as one of a batch.
Result<Shape> ShapeOf(const ValueInfo& input, std::span<const ValueInfo> inputs,
                      std::span<const size_t> batch_places,
                      std::span<const Tensor> batch) {
  std::map<std::string, int64_t> extents;
  for (size_t i = 0; i < batch.size(); ++i) {
    const auto& dims = inputs[batch_places[i]].type.dims;
    const std::span<const int64_t> found = batch[i].shape().dims();
    // Another rank is the network's to refuse.
    for (size_t d = 0; dims.has_value() && d < dims->size(); ++d) {
      if (d < found.size()) extents[(*dims)[d].symbol] = found[d];
    }
  }
  extents.erase("");
  if (!input.type.dims.has_value()) {
    return InvalidArgument("the rank of '", input.name, "' is not known");
  }
  std::vector<int64_t> shape;
  for (const Dim& dim : *input.type.dims) {
    const auto found = extents.find(dim.symbol);
    if (!dim.known() && found == extents.end()) {
      return InvalidArgument("found the extent '", dim.symbol, "' of '",
                             input.name, "', wanted one of the batch");
    }
    shape.push_back(dim.known() ? dim.extent : found->second);
  }
  return Shape(shape);
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
      new NetworkObjective(std::move(trainee)));
  objective->trained_.network = std::move(network);
  ASSAY_RETURN_IF_ERROR(objective->FindParts());
  if (objective->trained_.network->differentiable() == nullptr) {
    return Unsupported(Reason::kGradient, "the backend has no gradients");
  }
  ASSAY_RETURN_IF_ERROR(objective->LoadInference(backend));
  return objective;
}

Status NetworkObjective::LoadInference(Backend& backend) {
  if (trainee_.inference == nullptr) return OkStatus();
  LoadOptions options;
  options.settings = trainee_.settings;
  ASSAY_ASSIGN_OR_RETURN(tested_.network,
                         backend.Load(trainee_.inference, options));
  if (tested_.network == nullptr) return Internal("the backend loaded nothing");
  ASSAY_ASSIGN_OR_RETURN(tested_.loss_place, PlaceOf(tested_.network->outputs(),
                                                     trainee_.loss, "output"));
  return OkStatus();
}

Status NetworkObjective::FindParts() {
  const std::span<const ValueInfo> inputs = trained_.network->inputs();
  const std::span<const ValueInfo> outputs = trained_.network->outputs();
  std::vector<std::string> named;
  for (const Parameter& each : trainee_.parameters) named.push_back(each.name);
  for (const Statistic& each : trainee_.statistics) {
    named.push_back(each.name);
    ASSAY_ASSIGN_OR_RETURN(const size_t place,
                           PlaceOf(outputs, each.next, "output"));
    next_places_.push_back(place);
  }
  for (const Mask& each : trainee_.masks) named.push_back(each.name);
  for (const std::string& name : named) {
    ASSAY_RETURN_IF_ERROR(PlaceOf(inputs, name, "input").status());
  }
  for (size_t place = 0; place < inputs.size(); ++place) {
    if (std::ranges::find(named, inputs[place].name) == named.end()) {
      batch_places_.push_back(place);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(trained_.loss_place,
                         PlaceOf(outputs, trainee_.loss, "output"));
  return OkStatus();
}

/// The memory of an input by its name, which both forms share.
Result<Value> NetworkObjective::ValueOf(const std::string& input) const {
  for (const Parameter& each : trainee_.parameters) {
    if (each.name == input) return Value(each.value);
  }
  for (const Statistic& each : trainee_.statistics) {
    if (each.name == input) return Value(each.value);
  }
  for (size_t i = 0; i < trainee_.masks.size(); ++i) {
    if (trainee_.masks[i].name == input) return Value(masks_[i]);
  }
  const auto inputs = trained_.network->inputs();
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (inputs[batch_places_[i]].name == input) return Value(batch_[i]);
  }
  return NotFound("the model has no input '", input,
                  "', which its inference form has");
}

Status NetworkObjective::Bind(Form* form) {
  if (form == &trained_) ASSAY_RETURN_IF_ERROR(TakeMasks());
  std::vector<Value> inputs;
  for (const ValueInfo& input : form->network->inputs()) {
    ASSAY_ASSIGN_OR_RETURN(inputs.emplace_back(), ValueOf(input.name));
  }
  ASSAY_ASSIGN_OR_RETURN(form->binding, form->network->Bind(inputs, {}));
  if (form->binding == nullptr) return Internal("the backend bound nothing");
  return OkStatus();
}

Status NetworkObjective::TakeMasks() {
  const auto inputs = trained_.network->inputs();
  masks_.clear();
  drawn_at_.reset();
  for (const Mask& mask : trainee_.masks) {
    ASSAY_ASSIGN_OR_RETURN(const size_t place,
                           PlaceOf(inputs, mask.name, "input"));
    ASSAY_ASSIGN_OR_RETURN(
        Shape shape, ShapeOf(inputs[place], inputs, batch_places_, batch_));
    ASSAY_ASSIGN_OR_RETURN(
        masks_.emplace_back(),
        Tensor::Allocate(inputs[place].type.dtype, std::move(shape)));
  }
  return OkStatus();
}

Status NetworkObjective::DrawMasks() {
  if (drawn_at_ == at_) return OkStatus();
  for (size_t i = 0; i < masks_.size(); ++i) {
    const Mask& mask = trainee_.masks[i];
    ASSAY_RETURN_IF_ERROR(
        DrawMask(MaskKey(trainee_.seed, at_.step, at_.part, mask.name),
                 mask.ratio, &masks_[i]));
  }
  drawn_at_ = at_;
  return OkStatus();
}

Status NetworkObjective::Put(std::span<const Tensor> batch) {
  if (batch.size() != batch_places_.size()) {
    return InvalidArgument("found ", batch.size(),
                           " tensors of a batch, wanted ",
                           batch_places_.size());
  }
  is_put_ = true;
  const auto is_alike = [](const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape();
  };
  if (std::ranges::equal(batch_, batch, is_alike)) {
    for (size_t i = 0; i < batch.size(); ++i) {
      std::ranges::copy(batch[i].bytes(), batch_[i].mutable_data());
    }
    return OkStatus();
  }
  last_ = nullptr;
  bound_.reset();
  trained_.binding.reset();
  tested_.binding.reset();
  batch_.clear();
  for (const Tensor& tensor : batch) {
    ASSAY_ASSIGN_OR_RETURN(batch_.emplace_back(), tensor.Clone());
  }
  return OkStatus();
}

Status NetworkObjective::BindGradients() {
  const Binding& binding = *trained_.binding;
  std::vector<Value> cotangents(binding.outputs().size());
  const size_t loss_place = trained_.loss_place;
  const Tensor* const loss = binding.outputs()[loss_place].tensor();
  ASSAY_ASSIGN_OR_RETURN(cotangents[loss_place], OnesLike(*loss));
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
      bound_, trained_.network->differentiable()->BindBackward(
                  *trained_.binding, cotangents, targets, gradients_));
  if (bound_ == nullptr) return Internal("the backend bound no gradients");
  return OkStatus();
}

/// Written behind the gradients, which read the inputs.
Status NetworkObjective::FeedBack() {
  for (size_t i = 0; i < trainee_.statistics.size(); ++i) {
    Statistic& statistic = trainee_.statistics[i];
    const Value& next = trained_.binding->outputs()[next_places_[i]];
    const Tensor* const tensor = next.tensor();
    if (tensor == nullptr || tensor->dtype() != statistic.value.dtype() ||
        tensor->shape() != statistic.value.shape()) {
      return InvalidArgument("found ", next.Type().ToString(), " for '",
                             statistic.next, "', wanted ",
                             statistic.value.Signature());
    }
    std::ranges::copy(tensor->bytes(), statistic.value.mutable_data());
  }
  return OkStatus();
}

Result<double> NetworkObjective::Forward(Form* form) {
  if (!is_put_) {
    return FailedPrecondition("no batch was put before the first step");
  }
  last_ = nullptr;
  if (form->binding == nullptr) ASSAY_RETURN_IF_ERROR(Bind(form));
  if (form == &trained_) ASSAY_RETURN_IF_ERROR(DrawMasks());
  ASSAY_RETURN_IF_ERROR(form->network->Forward(*form->binding));
  ASSAY_RETURN_IF_ERROR(form->network->Synchronize());
  last_ = form;
  return NumberOf(form->binding->outputs()[form->loss_place]);
}

Result<double> NetworkObjective::Infer() { return Forward(&inferring()); }

/// A backend writes into the same memory each time, and then nothing is copied.
Status NetworkObjective::Lend() {
  const std::span<const Value> gradients = bound_->gradients();
  lent_.resize(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor* const tensor = gradients[i].tensor();
    if (tensor == nullptr) {
      return Internal("a gradient of the backend is no tensor");
    }
    if (lent_[i].data() != tensor->data() ||
        lent_[i].dtype() != tensor->dtype() ||
        lent_[i].shape() != tensor->shape()) {
      lent_[i] = *tensor;
    }
  }
  return OkStatus();
}

Result<Evaluation> NetworkObjective::Evaluate() {
  Evaluation evaluation;
  ASSAY_ASSIGN_OR_RETURN(evaluation.loss, Forward(&trained_));
  if (bound_ == nullptr) ASSAY_RETURN_IF_ERROR(BindGradients());
  Network& network = *trained_.network;
  ASSAY_RETURN_IF_ERROR(network.differentiable()->RunBackward(*bound_));
  ASSAY_RETURN_IF_ERROR(network.Synchronize());
  ASSAY_RETURN_IF_ERROR(Lend());
  evaluation.gradients = lent_;
  ASSAY_RETURN_IF_ERROR(FeedBack());
  return evaluation;
}

std::span<const Value> NetworkObjective::outputs() const {
  if (last_ == nullptr) return {};
  return last_->binding->outputs();
}

std::vector<StateTensor> NetworkObjective::Statistics() const {
  std::vector<StateTensor> statistics;
  for (const Statistic& each : trainee_.statistics) {
    statistics.push_back({each.name, "statistic", each.value});
  }
  return statistics;
}

}  // namespace assay::train
