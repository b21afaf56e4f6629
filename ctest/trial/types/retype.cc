// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/types/retype.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "ctest/trial/types/convert.h"
#include "framework/core/value_walk.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::retype {
namespace {

const types::OperatorSignature& SignatureOf(const Node& node) {
  return types::SignatureOf(*FindOperator(node.domain, node.op_type));
}

/// The values of the node that a type variable stands for, a variadic of mixed
/// types apart.
std::set<ValueId> ValuesOf(const Node& node, int variable, bool of_inputs) {
  const types::OperatorSignature& signature = SignatureOf(node);
  const auto formals = of_inputs ? signature.inputs : signature.outputs;
  const auto& ids = of_inputs ? node.inputs : node.outputs;
  std::set<ValueId> found;
  for (size_t i = 0; i < ids.size(); ++i) {
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (formal == nullptr || formal->mixed || ids[i] == kNoValue) continue;
    if (formal->variable == variable) found.insert(ids[i]);
  }
  return found;
}

Value Convert(const Value& value, DType dtype) {
  const auto change = [=](const Tensor& t) { return ConvertTensor(t, dtype); };
  if (value.sparse() != nullptr || value.map() != nullptr) return value;
  return MapTensors(value, change, [=](DType) { return dtype; }).value();
}

/// An attribute of an output's type: a number of TensorProto.DataType, or a
/// tensor whose elements the output takes.
bool NamesType(std::string_view name) {
  return name == "to" || name == "dtype" || name == "output_dtype" ||
         name == "output_datatype" || name == "value";
}

Tensor Zero(DType dtype) { return Tensor::Allocate(dtype, {1}).value(); }

/// Sets the attribute that names the type; true when there is one.
bool SetAttribute(Node* node, DType dtype, bool only_where_given) {
  for (const types::AttributeInfo& info : SignatureOf(*node).attributes) {
    if (!NamesType(info.name)) continue;
    auto given =
        std::ranges::find(node->attributes, info.name, &Attribute::name);
    if (given == node->attributes.end()) {
      if (only_where_given) continue;
      node->attributes.push_back({std::string(info.name), {}, ""});
      given = node->attributes.end() - 1;
    }
    if (info.kind == "tensor") {
      const Tensor* const tensor = std::get_if<Tensor>(&given->held);
      given->held =
          ConvertTensor(tensor != nullptr ? *tensor : Zero(dtype), dtype);
    } else {
      given->held = static_cast<int64_t>(dtype);
    }
    return true;
  }
  return false;
}

}  // namespace

bool IsRetypable(const Graph& graph) {
  if (graph.nodes.size() != 1) return false;
  const Node& node = graph.nodes[0];
  const auto id = FindOperator(node.domain, node.op_type);
  if (!id.has_value()) return false;
  const OperatorInfo& info = Operators()[static_cast<size_t>(*id)];
  if (info.deprecated ||
      VersionInForce(info, node.opset) != info.versions.back()) {
    return false;
  }
  return node.Subgraphs().empty();
}

std::optional<ValueType> BoundType(const Graph& graph, int variable) {
  for (const bool of_inputs : {true, false}) {
    for (const ValueId id : ValuesOf(graph.nodes[0], variable, of_inputs)) {
      const ValueType& type = graph[id].type;
      if (!types::Word(type).empty()) return type;
    }
  }
  return std::nullopt;
}

Result<RetypedCase> Retype(const Graph& graph, std::span<const Value> inputs,
                           int variable, DType type) {
  RetypedCase made{graph, {inputs.begin(), inputs.end()}};
  Node& node = made.graph.nodes[0];
  const std::set<ValueId> read = ValuesOf(node, variable, true);
  const auto bound = BoundType(graph, variable);
  const bool is_held =
      std::ranges::any_of(node.attributes, [&](const Attribute& attribute) {
        const auto* tensor = std::get_if<Tensor>(&attribute.held);
        return tensor != nullptr && bound && tensor->dtype() == bound->dtype;
      });
  if (is_held && !read.empty()) {
    return Unsupported(Reason::kAttribute,
                       "an attribute has elements of that type as well");
  }
  const std::set<ValueId> written = ValuesOf(node, variable, false);
  if (!written.empty() && !SetAttribute(&node, type, !read.empty()) &&
      read.empty()) {
    return Unsupported(
        Reason::kDType, node.Label(),
        ": no input or attribute says the type of ",
        SignatureOf(node).variables[static_cast<size_t>(variable)].name);
  }
  for (const auto& ids : {read, written}) {
    for (const ValueId id : ids) {
      ValueInfo& value = made.graph[id];
      value.type = MapDType(value.type, [=](DType) { return type; });
    }
  }
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    if (read.contains(graph.inputs[i])) {
      made.inputs[i] = Convert(made.inputs[i], type);
    }
  }
  for (Initializer& initializer : made.graph.initializers) {
    if (read.contains(initializer.id)) {
      initializer.value = Convert(initializer.value, type);
    }
  }
  return made;
}

}  // namespace assay::retype
