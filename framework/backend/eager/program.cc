// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/program.h"

#include <optional>
#include <string_view>
#include <utility>

#include "framework/backend/backend.h"

namespace assay::eager {
namespace {

const ValueType& TypeAt(const LoadScope& scope, const std::vector<ValueId>& ids,
                        int position) {
  static const ValueType kUnknown;
  const auto at = static_cast<size_t>(position);
  if (at >= ids.size() || ids[at] == kNoValue) return kUnknown;
  return *scope.types[static_cast<size_t>(ids[at])];
}

/// The number or numbers of a Constant node as a tensor; none for a string and
/// for a sparse tensor.
template <class T>
std::optional<Tensor> NumbersOf(const Node& node, std::string_view one,
                                std::string_view list) {
  Result<Tensor> made = NotFound("");
  if (const Attribute* attribute = node.Find(one)) {
    const auto* const number = std::get_if<T>(&attribute->held);
    if (number != nullptr) made = Tensor::Of<T>({}, {number, 1});
  } else if (attribute = node.Find(list); attribute != nullptr) {
    const auto* const numbers = std::get_if<std::vector<T>>(&attribute->held);
    if (numbers != nullptr) {
      made = Tensor::Of<T>({static_cast<int64_t>(numbers->size())}, *numbers);
    }
  }
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

/// The tensor of a Constant node, put into `made` where its attribute is none.
const Tensor* ConstantOf(const Node& node, std::deque<Tensor>& made) {
  if (const Attribute* value = node.Find("value")) {
    return std::get_if<Tensor>(&value->held);
  }
  auto numbers = NumbersOf<int64_t>(node, "value_int", "value_ints");
  if (!numbers.has_value()) {
    numbers = NumbersOf<float>(node, "value_float", "value_floats");
  }
  return numbers.has_value() ? &made.emplace_back(*std::move(numbers))
                             : nullptr;
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
    if (node.op_type != "Constant" || !node.domain.empty()) continue;
    if (node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    constants[static_cast<size_t>(node.outputs[0])] = ConstantOf(node, *made);
  }
  for (const Capture& capture : graph.captures) {
    const auto inner = static_cast<size_t>(capture.inner);
    const auto id = static_cast<size_t>(capture.outer);
    constants[inner] = outer->constants[id];
    if (!IsKnown(*types[inner])) types[inner] = outer->types[id];
  }
}

}  // namespace assay::inline v1

namespace assay::inline v1 {

const ValueType& LoadContext::type(Input input) const {
  return eager::TypeAt(scope_, node_.inputs, input.position);
}

const ValueType& LoadContext::type(Output output) const {
  return eager::TypeAt(scope_, node_.outputs, output.position);
}

const Tensor* LoadContext::constant(Input input) const {
  const auto at = static_cast<size_t>(input.position);
  if (at >= node_.inputs.size() || node_.inputs[at] == kNoValue) return nullptr;
  return scope_.constants[static_cast<size_t>(node_.inputs[at])];
}

}  // namespace assay::inline v1
