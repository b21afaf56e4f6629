// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/flow.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// False for what is known to be no tensor that gradients are taken in.
bool MayFlow(const ValueType& type) {
  if (type.kind == ValueKind::kTensor) {
    return type.dtype == DType::kUndefined || gradcheck::Carries(type.dtype);
  }
  return type.kind != ValueKind::kMap && type.kind != ValueKind::kSparseTensor;
}

/// One that a cotangent or a gradient is a tensor for.
bool IsEnd(const ValueType& type) {
  return type.kind == ValueKind::kTensor && gradcheck::Carries(type.dtype);
}

/// The ends of a node that gradients flow between.
struct Ends {
  std::vector<ValueId> inputs, outputs;
};

void Add(const Graph& graph, ValueId id, std::vector<ValueId>* ids) {
  if (id != kNoValue && MayFlow(graph[id].type)) ids->push_back(id);
}

/// Those of the parameters that the catalogue names.
void AddNamed(const Graph& graph, OperatorId op,
              std::span<const types::FormalParameter> formals,
              const std::vector<ValueId>& actual, std::vector<ValueId>* ids) {
  for (size_t i = 0; i < actual.size(); ++i) {
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (formal != nullptr && IsDifferentiable(op, *formal)) {
      Add(graph, actual[i], ids);
    }
  }
}

/// True for an operator of sequences or optionals, of which no flag says
/// anything.
bool IsOfCollections(OperatorId op) {
  const types::OperatorSignature& signature = types::SignatureOf(op);
  const auto is_one = [&](const types::FormalParameter& formal) {
    const auto& words =
        signature.variables[static_cast<size_t>(formal.variable)].types;
    return !IsDifferentiable(op, formal) &&
           std::ranges::any_of(words, [](std::string_view word) {
             return word.starts_with("seq(") || word.starts_with("optional(");
           });
  };
  return std::ranges::any_of(signature.inputs, is_one) ||
         std::ranges::any_of(signature.outputs, is_one);
}

Ends EndsOf(const Graph& graph, const Node& node) {
  Ends ends;
  const auto op = FindOperator(node.domain, node.op_type);
  const std::vector<const Graph*> bodies = node.Subgraphs();
  if (op.has_value() && bodies.empty() && !IsOfCollections(*op)) {
    const types::OperatorSignature& signature = types::SignatureOf(*op);
    AddNamed(graph, *op, signature.inputs, node.inputs, &ends.inputs);
    AddNamed(graph, *op, signature.outputs, node.outputs, &ends.outputs);
    return ends;
  }
  for (const ValueId id : node.inputs) Add(graph, id, &ends.inputs);
  for (const ValueId id : node.outputs) Add(graph, id, &ends.outputs);
  for (const Graph* const body : bodies) {
    for (const Capture& capture : body->captures) {
      Add(graph, capture.outer, &ends.inputs);
    }
  }
  return ends;
}

}  // namespace

Flow::Flow(const Graph& graph)
    : reached_(graph.values.size()),
      used_(graph.values.size()),
      carries_(graph.values.size()) {
  Forth(graph);
  Back(graph);
}

void Flow::Forth(const Graph& graph) {
  const auto start = [&](ValueId id) {
    if (MayFlow(graph[id].type)) reached_[static_cast<size_t>(id)] = true;
  };
  std::ranges::for_each(graph.inputs, start);
  for (const Initializer& fixed : graph.initializers) start(fixed.id);
  for (const Node& node : graph.nodes) {
    const Ends ends = EndsOf(graph, node);
    if (std::ranges::none_of(ends.inputs, [&](ValueId id) {
          return reached_[static_cast<size_t>(id)];
        })) {
      continue;
    }
    for (const ValueId id : ends.outputs) {
      reached_[static_cast<size_t>(id)] = true;
    }
  }
}

void Flow::Back(const Graph& graph) {
  // Of what is no tensor of numbers no cotangent can be given.
  for (const ValueId id : graph.outputs) {
    if (IsEnd(graph[id].type)) {
      carries_[static_cast<size_t>(id)] = used_[static_cast<size_t>(id)] =
          reached_[static_cast<size_t>(id)];
    }
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Ends ends = EndsOf(graph, *node);
    if (std::ranges::none_of(ends.outputs, [&](ValueId id) {
          return used_[static_cast<size_t>(id)];
        })) {
      continue;
    }
    for (const ValueId id : ends.inputs) {
      used_[static_cast<size_t>(id)] = reached_[static_cast<size_t>(id)];
    }
  }
}

}  // namespace assay::gradcheck
