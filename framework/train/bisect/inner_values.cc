// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/inner_values.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "framework/backend/network_interfaces.h"
#include "framework/graph/edit/submodel.h"
#include "framework/testing/draw/draw.h"

namespace assay::bisect {
namespace {

/// The names of the values that nodes compute, outputs of the model among them.
std::vector<std::string> ComputedBy(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) names.push_back(graph[id].name);
    }
  }
  return names;
}

std::vector<Value> InputsOf(const Network& network,
                            const optdiff::Place& place) {
  std::vector<Value> inputs;
  size_t next = 0;
  for (const ValueInfo& info : network.inputs()) {
    inputs.emplace_back(place.InputOf(info.name, &next));
  }
  return inputs;
}

bool IsJudged(const Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && (tensor->dtype() == DType::kFloat32 ||
                               tensor->dtype() == DType::kFloat64);
}

/// A network that is bound and has run forward.
struct Ran {
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

Result<Ran> RunWith(const std::shared_ptr<const Model>& model, Backend& backend,
                    const LoadOptions& options, const optdiff::Place& place) {
  Ran ran;
  ASSAY_ASSIGN_OR_RETURN(ran.network, backend.Load(model, options));
  if (ran.network == nullptr) return Internal("the backend loaded nothing");
  ASSAY_ASSIGN_OR_RETURN(ran.binding,
                         ran.network->Bind(InputsOf(*ran.network, place), {}));
  if (ran.binding == nullptr) return Internal("the backend bound nothing");
  ASSAY_RETURN_IF_ERROR(ran.network->Forward(*ran.binding));
  ASSAY_RETURN_IF_ERROR(ran.network->Synchronize());
  return ran;
}

/// A cotangent of 1 for the loss, the last output of the model.
Result<std::vector<Value>> OneForLoss(const Graph& graph, const Ran& ran) {
  const size_t loss = graph.outputs.size() - 1;
  std::vector<Value> cotangents(ran.binding->outputs().size());
  const Tensor* const tensor = ran.binding->outputs()[loss].tensor();
  if (tensor == nullptr) return Internal("the loss is no tensor");
  const std::array<double, 1> one = {1};
  ASSAY_ASSIGN_OR_RETURN(cotangents[loss],
                         draw::TensorOf(tensor->dtype(), tensor->shape(), one));
  return cotangents;
}

/// Makes the model whose only output is the last one, so that the other outputs
/// become inner values.
Result<std::shared_ptr<const Model>> WithLossAlone(const Model& model) {
  const Graph& graph = model.graph();
  edit::Submodel all;
  for (size_t n = 0; n < graph.nodes.size(); ++n) all.nodes.push_back(n);
  for (const ValueId id : graph.inputs) {
    all.inputs.push_back({id, graph[id].type});
  }
  const ValueId loss = graph.outputs.back();
  all.outputs.push_back({loss, graph[loss].type});
  return edit::MakeSubmodel(model, graph, all);
}

}  // namespace

Result<InnerValues> InnerValuesOf(const Model& whole, Backend& backend,
                                  const optdiff::Place& place) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, WithLossAlone(whole));
  const Graph& graph = model->graph();
  LoadOptions options;
  for (const std::string& name : ComputedBy(graph)) {
    const bool is_output = std::ranges::any_of(
        graph.outputs, [&](ValueId id) { return graph[id].name == name; });
    if (!is_output) options.extra_outputs.push_back(name);
  }
  ASSAY_ASSIGN_OR_RETURN(const Ran forward,
                         RunWith(model, backend, options, place));
  // The order is that of the graph; in the network outputs of the model come
  // first.
  std::vector<std::pair<std::string, Value>> found;
  for (const std::string& name : ComputedBy(graph)) {
    const auto outputs = forward.network->outputs();
    const auto at = std::ranges::find(outputs, name, &ValueInfo::name);
    if (at == outputs.end()) continue;
    const Value& value =
        forward.binding->outputs()[static_cast<size_t>(at - outputs.begin())];
    if (IsJudged(value)) found.emplace_back(name, value);
  }
  InnerValues inner;
  for (const train::Parameter& parameter : place.parameters) {
    options.gradient_targets.push_back(parameter.name);
    inner.parameters.push_back({parameter.name, parameter.value, {}});
  }
  for (const auto& [name, value] : found) {
    inner.values.push_back({name, *value.tensor(), {}});
    if (std::ranges::find(options.extra_outputs, name) !=
        options.extra_outputs.end()) {
      options.gradient_targets.push_back(name);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const Ran both,
                         RunWith(model, backend, options, place));
  Differentiable* const gradients = both.network->differentiable();
  if (gradients == nullptr) {
    return Unsupported(Reason::kGradient, "the backend has no gradients");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> one, OneForLoss(graph, both));
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<Value> given,
      gradients->Backward(*both.binding, one, options.gradient_targets));
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = options.gradient_targets[i];
    auto& group = i < inner.parameters.size() ? inner.parameters : inner.values;
    const auto at = std::ranges::find(group, name, &InnerValue::name);
    if (at != group.end() && given[i].tensor() != nullptr) {
      at->gradient = *given[i].tensor();
    }
  }
  return inner;
}

}  // namespace assay::bisect
