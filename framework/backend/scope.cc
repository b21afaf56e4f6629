// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/scope.h"

#include "framework/backend/backend.h"
#include "framework/backend/kernel.h"

namespace assay::inline v1 {
namespace {

const ValueType& TypeAt(const LoadScope& scope, const std::vector<ValueId>& ids,
                        int position) {
  static const ValueType kUnknown;
  const auto at = static_cast<size_t>(position);
  if (at >= ids.size() || ids[at] == kNoValue) return kUnknown;
  return *scope.types[static_cast<size_t>(ids[at])];
}

/// The tensor of a Constant node; null for its other forms.
const Tensor* ConstantOf(const Node& node) {
  if (node.op_type != "Constant" || !node.domain.empty()) return nullptr;
  const Attribute* value = node.Find("value");
  return value == nullptr ? nullptr : std::get_if<Tensor>(&value->held);
}

}  // namespace

bool IsKnown(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kNone:
      return false;
    case ValueKind::kTensor:
    case ValueKind::kSparseTensor:
      return type.dtype != DType::kUndefined;
    default:
      return type.element != nullptr && IsKnown(*type.element);
  }
}

LoadScope::LoadScope(const Graph& graph, const LoadScope* outer,
                     const std::vector<bool>& parameters)
    : graph(graph),
      types(graph.values.size()),
      constants(graph.values.size(), nullptr) {
  for (size_t id = 0; id < types.size(); ++id) {
    types[id] = &graph.values[id].type;
  }
  for (const Initializer& initializer : graph.initializers) {
    const auto id = static_cast<size_t>(initializer.id);
    const bool fixed = parameters.empty() || !parameters[id];
    if (fixed) constants[id] = initializer.value.tensor();
    if (!IsKnown(*types[id])) {
      types[id] = &derived_.emplace_back(initializer.value.Type());
    }
  }
  for (const Node& node : graph.nodes) {
    const Tensor* value = ConstantOf(node);
    if (value == nullptr || node.outputs.empty()) continue;
    constants[static_cast<size_t>(node.outputs[0])] = value;
  }
  for (const Capture& capture : graph.captures) {
    const auto inner = static_cast<size_t>(capture.inner);
    const auto id = static_cast<size_t>(capture.outer);
    constants[inner] = outer->constants[id];
    if (!IsKnown(*types[inner])) types[inner] = outer->types[id];
  }
}

const ValueType& LoadContext::type(Input input) const {
  return TypeAt(scope_, node_.inputs, input.position);
}

const ValueType& LoadContext::type(Output output) const {
  return TypeAt(scope_, node_.outputs, output.position);
}

const Tensor* LoadContext::constant(Input input) const {
  const auto at = static_cast<size_t>(input.position);
  if (at >= node_.inputs.size() || node_.inputs[at] == kNoValue) return nullptr;
  return scope_.constants[static_cast<size_t>(node_.inputs[at])];
}

}  // namespace assay::inline v1
