// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/known_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "framework/core/text.h"

namespace assay::repro {

KnownGraph::KnownGraph(const Draft& draft)
    : model_(draft.model), inputs_(draft.inputs) {
  Result<Graph> typed = InferTypes(*draft.model);
  graph_ = typed.ok() ? *typed : draft.model->graph();
  for (size_t i = 0; i < graph_.inputs.size() && i < inputs_.size(); ++i) {
    Know(graph_.inputs[i], inputs_[i]);
  }
}

std::vector<ValueId> KnownGraph::Inner() const {
  std::vector<ValueId> inner;
  for (const Node& node : graph_.nodes) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const ValueType& type = graph_[id].type;
      // An output must be declared, a tensor with its rank.
      const bool known_rank =
          type.kind != ValueKind::kTensor || type.dims.has_value();
      if (type.kind != ValueKind::kNone && known_rank) inner.push_back(id);
    }
  }
  return inner;
}

std::set<ValueId> KnownGraph::Behind(ValueId id) const {
  std::set<ValueId> behind = {id};
  for (const Node& node : graph_.nodes) {
    if (std::ranges::any_of(edit::ReadBy(node),
                            [&](ValueId at) { return behind.contains(at); })) {
      behind.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  behind.erase(kNoValue);
  return behind;
}

const Value* KnownGraph::Find(ValueId id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : &found->second;
}

Result<Draft> KnownGraph::CutAt(std::span<const ValueId> ids) const {
  std::set<ValueId> wanted(ids.begin(), ids.end());
  edit::Submodel cut;
  for (size_t i = graph_.nodes.size(); i-- > 0;) {
    const Node& node = graph_.nodes[i];
    if (std::ranges::none_of(node.outputs,
                             [&](ValueId id) { return wanted.contains(id); })) {
      continue;
    }
    cut.nodes.insert(cut.nodes.begin(), i);
    const auto read = edit::ReadBy(node);
    wanted.insert(read.begin(), read.end());
  }
  Draft draft{nullptr, inputs_, {}, {}};
  for (size_t i = 0; i < graph_.inputs.size() && i < inputs_.size(); ++i) {
    cut.inputs.push_back({graph_.inputs[i], graph_[graph_.inputs[i]].type});
  }
  for (const ValueId id : ids) cut.outputs.push_back({id, graph_[id].type});
  ASSAY_ASSIGN_OR_RETURN(draft.model, edit::MakeSubmodel(*model_, graph_, cut));
  return draft;
}

std::vector<ValueId> KnownGraph::OutputsOf(
    const std::vector<size_t>& nodes) const {
  std::vector<ValueId> outputs = edit::BoundaryOf(graph_, nodes).outputs;
  if (outputs.empty()) {
    outputs = graph_.nodes[nodes.back()].outputs;
    std::erase(outputs, kNoValue);
  }
  return outputs;
}

Result<Draft> KnownGraph::Alone(size_t node) const {
  const std::vector<ValueId> read = edit::ReadBy(graph_.nodes[node]);
  std::vector<size_t> nodes;
  for (size_t i = 0; i < node; ++i) {
    const Node& before = graph_.nodes[i];
    if (before.op_type == "Constant" && before.domain.empty() &&
        std::ranges::count(read, before.outputs.at(0)) > 0) {
      nodes.push_back(i);
    }
  }
  nodes.push_back(node);
  return Made(nodes, OutputsOf({node}));
}

Result<Draft> KnownGraph::Made(const std::vector<size_t>& nodes,
                               const std::vector<ValueId>& outputs) const {
  edit::Submodel part{nodes, {}, {}, {}};
  Draft draft;
  for (const ValueId id : edit::BoundaryOf(graph_, nodes).inputs) {
    ASSAY_RETURN_IF_ERROR(AddPort(id, &part.inputs, &draft.inputs));
  }
  for (const ValueId id : outputs) {
    ASSAY_RETURN_IF_ERROR(AddPort(id, &part.outputs, &draft.expected));
  }
  ASSAY_ASSIGN_OR_RETURN(draft.model,
                         edit::MakeSubmodel(*model_, graph_, part));
  return draft;
}

int64_t KnownGraph::ElementsGiven(const std::vector<size_t>& nodes) const {
  int64_t elements = 0;
  const auto count = [&](const Value& value) {
    if (value.tensor()) elements += value.tensor()->num_elements();
  };
  const edit::Boundary edge = edit::BoundaryOf(graph_, nodes);
  for (const ValueId id : edge.inputs) {
    if (const Value* const value = Find(id)) count(*value);
  }
  for (const ValueId id : edge.initializers) {
    count(*graph_.FindInitializer(id));
  }
  return elements;
}

Status KnownGraph::AddPort(ValueId id, std::vector<edit::Port>* ports,
                           std::vector<Value>* values) const {
  const ValueInfo& info = graph_[id];
  const Value* const value = Find(id);
  if (value == nullptr) {
    return FailedPrecondition("the value '", info.name, "' is not known");
  }
  // The type of a sequence or an optional is wider than its value.
  ports->push_back({id, value->tensor() ? value->Type() : info.type});
  values->push_back(*value);
  return OkStatus();
}

}  // namespace assay::repro
