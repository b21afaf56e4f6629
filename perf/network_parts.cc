// SPDX-License-Identifier: Apache-2.0

#include "perf/network_parts.h"

#include <algorithm>

#include "framework/graph/edit/submodel.h"

namespace assay::perf {

NetworkParts::NetworkParts(Backend& backend, const train::Trainee& trainee,
                           std::span<const Tensor> batch)
    : backend_(backend), model_(trainee.model) {
  FillIn(trainee, batch);
  Forward();
  for (size_t i = 0; i < model_->graph().nodes.size(); ++i) Add(i);
}

void NetworkParts::Run() const {
  for (const Part& part : parts_) {
    Must(part.network->Forward(*part.binding));
    if (part.gradients == nullptr) continue;
    Must(part.network->differentiable()->RunBackward(*part.gradients));
  }
}

void NetworkParts::FillIn(const train::Trainee& trainee,
                          std::span<const Tensor> batch) {
  const Graph& graph = model_->graph();
  values_.resize(graph.values.size());
  for (const train::Parameter& parameter : trainee.parameters) {
    const ValueId id = graph.FindValue(parameter.name);
    values_[static_cast<size_t>(id)] = Got(parameter.value.Clone());
    learnt_.insert(id);
  }
  auto next = batch.begin();
  for (const ValueId id : graph.inputs) {
    if (!learnt_.contains(id)) values_[static_cast<size_t>(id)] = *next++;
  }
  for (const Node& node : graph.nodes) {
    const bool learns = std::ranges::any_of(
        node.inputs, [this](ValueId id) { return learnt_.contains(id); });
    if (learns) learnt_.insert(node.outputs.begin(), node.outputs.end());
  }
}

void NetworkParts::Forward() {
  const Graph& graph = model_->graph();
  LoadOptions options;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (std::ranges::count(graph.outputs, id) > 0) continue;
      options.extra_outputs.push_back(graph[id].name);
    }
  }
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs) {
    inputs.push_back(values_[static_cast<size_t>(id)]);
  }
  const auto network = Got(backend_.Load(model_, options));
  const auto binding = Got(network->Bind(inputs, {}));
  Must(network->Forward(*binding));
  Must(network->Synchronize());
  for (size_t i = 0; i < network->outputs().size(); ++i) {
    const ValueId id = graph.FindValue(network->outputs()[i].name);
    values_[static_cast<size_t>(id)] =
        Got(binding->outputs()[i].tensor()->Clone());
  }
}

void NetworkParts::Add(size_t place) {
  const Graph& graph = model_->graph();
  const auto port = [&](ValueId id) {
    const Value* const fixed = graph.FindInitializer(id);
    const Value& value = values_[static_cast<size_t>(id)];
    return edit::Port{id, fixed != nullptr ? fixed->Type() : value.Type()};
  };
  const std::vector<size_t> nodes = {place};
  const edit::Boundary edge = edit::BoundaryOf(graph, nodes);
  edit::Submodel small{
      .nodes = nodes, .inputs = {}, .outputs = {}, .fixed = {}};
  LoadOptions options;
  std::vector<Value> inputs;
  for (const ValueId id : edge.inputs) {
    small.inputs.push_back(port(id));
    inputs.push_back(values_[static_cast<size_t>(id)]);
    if (learnt_.contains(id)) {
      options.gradient_targets.push_back(graph[id].name);
    }
  }
  for (const ValueId id : edge.outputs) small.outputs.push_back(port(id));
  Part part;
  part.network = Got(
      backend_.Load(Got(edit::MakeSubmodel(*model_, graph, small)), options));
  part.binding = Got(part.network->Bind(inputs, {}));
  Must(part.network->Forward(*part.binding));
  Must(part.network->Synchronize());
  if (!options.gradient_targets.empty()) {
    // Its outputs are numbers as good as any.
    std::vector<Value> cotangents;
    for (const ValueId id : edge.outputs) {
      cotangents.push_back(values_[static_cast<size_t>(id)]);
    }
    part.gradients = Got(part.network->differentiable()->BindBackward(
        *part.binding, cotangents, options.gradient_targets, {}));
  }
  parts_.push_back(std::move(part));
}

}  // namespace assay::perf
