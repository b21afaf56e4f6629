// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/native/native_network.h"

#include <algorithm>
#include <span>

namespace assay::reference {
namespace {

/// The trainable initializers that the operators can update: all, or none where
/// one of them is of another type.
std::vector<std::string> Updated(const Model& model,
                                 const LoadOptions& options) {
  const Graph& graph = model.graph();
  for (const std::string& name : options.trainable) {
    const v1::Value* const value = graph.FindInitializer(graph.FindValue(name));
    const Tensor* const tensor = value == nullptr ? nullptr : value->tensor();
    if (tensor == nullptr) return {};
    const DType type = tensor->dtype();
    if (type != DType::kFloat32 && type != DType::kFloat64) return {};
  }
  return options.trainable;
}

/// A one like the loss, which has one element.
Result<Tensor> OneLike(const v1::Value& loss) {
  const Tensor* const tensor = loss.tensor();
  if (tensor != nullptr && tensor->num_elements() == 1) {
    constexpr float kOne32 = 1;
    constexpr double kOne64 = 1;
    if (tensor->dtype() == DType::kFloat32) {
      return Tensor::Of<float>(tensor->shape(), std::span(&kOne32, 1));
    }
    if (tensor->dtype() == DType::kFloat64) {
      return Tensor::Of<double>(tensor->shape(), std::span(&kOne64, 1));
    }
  }
  return InvalidArgument("the loss is ", loss.Type().ToString(),
                         ", wanted one element of float32 or float64");
}

}  // namespace

Result<std::unique_ptr<Network>> NativeNetwork::Load(
    Backend& backend, const std::shared_ptr<const Model>& model,
    const LoadOptions& options, const LoadPlain& load) {
  std::vector<std::string> names = Updated(*model, options);
  LoadOptions wide = options;
  for (const std::string& name : names) {
    if (std::ranges::count(wide.gradient_targets, name) > 0) continue;
    wide.gradient_targets.push_back(name);
  }
  if (names.empty()) return load(model, options);
  auto inner = load(model, wide);
  // It may still be run, and its parameters be written.
  if (inner.status().code() == StatusCode::kUnsupported) {
    return load(model, options);
  }
  if (!inner.ok()) return inner.status();
  return std::unique_ptr<Network>(
      new NativeNetwork(backend, *std::move(inner), std::move(names),
                        !options.gradient_targets.empty()));
}

Status NativeNetwork::Configure(
    std::string_view optimizer,
    const std::map<std::string, double>& hyperparameters) {
  ASSAY_ASSIGN_OR_RETURN(const Optimization what,
                         OptimizationOf(optimizer, hyperparameters));
  std::vector<std::unique_ptr<NativeUpdate>> updates;
  for (const std::string& name : names_) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor parameter,
                           std::as_const(*parameters()).Read(name));
    ASSAY_ASSIGN_OR_RETURN(updates.emplace_back(),
                           NativeUpdate::Load(backend_, what, parameter));
  }
  updates_ = std::move(updates);
  return OkStatus();
}

Result<std::vector<v1::Value>> NativeNetwork::Gradients(Binding& binding,
                                                        std::string_view loss) {
  const auto found = std::ranges::find(outputs(), loss, &ValueInfo::name);
  if (found == outputs().end()) {
    return NotFound("the network has no output '", loss, "'");
  }
  ASSAY_RETURN_IF_ERROR(Forward(binding));
  const auto place = static_cast<size_t>(found - outputs().begin());
  std::vector<v1::Value> cotangents(outputs().size());
  ASSAY_ASSIGN_OR_RETURN(cotangents[place], OneLike(binding.outputs()[place]));
  return inner().differentiable()->Backward(binding, cotangents, names_);
}

Status NativeNetwork::Step(Binding& binding, std::string_view loss) {
  if (updates_.empty()) {
    return FailedPrecondition("a step was asked for before an optimizer");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> gradients,
                         Gradients(binding, loss));
  for (size_t i = 0; i < names_.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor parameter,
                           std::as_const(*parameters()).Read(names_[i]));
    ASSAY_ASSIGN_OR_RETURN(
        const Tensor next,
        updates_[i]->Step(parameter, *gradients[i].tensor()));
    ASSAY_RETURN_IF_ERROR(parameters()->Write(names_[i], next));
  }
  return OkStatus();
}

}  // namespace assay::reference
