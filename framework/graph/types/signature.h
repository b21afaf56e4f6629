// SPDX-License-Identifier: Apache-2.0
//
// OperatorSignature: what ONNX's schema permits of an operator's current
// version: the types of its formal parameters, and its attributes. Generated,
// so that asking costs no start of ONNX's schema registry.
//
//   for (const TypeVariable& v : SignatureOf(id).variables) {
//     Print(v.name, v.types);  // "T", {"bfloat16", "float16", ...}
//   }
//
// A type is written as Word(ValueType) writes it: "float32", "seq(int64)".

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/core/value.h"
#include "framework/graph/operator.h"

namespace assay::types {

/// A type that parameters share: a name, "T", and the permitted types, sorted.
/// A parameter of one fixed type has a variable named by that type.
struct TypeVariable {
  std::string_view name;
  std::span<const std::string_view> types;

  bool fixed() const { return types.size() == 1 && types[0] == name; }
};

enum class Arity : uint8_t { kSingle, kOptional, kVariadic };

/// Derivatives by an input, or of an output, as ONNX has them in its schema.
enum class Differentiability : uint8_t { kUnknown, kDifferentiable, kNot };

/// A formal input or output.
struct FormalParameter {
  std::string_view name;
  int variable = 0;  // index among the operator's
  Arity arity = Arity::kSingle;
  bool mixed = false;  // variadic, of different types
  Differentiability flag = Differentiability::kUnknown;
};

struct AttributeInfo {
  std::string_view name;
  std::string_view kind;  // "int", "floats", "graph", ..., as ONNX calls it
  bool required = false;
  std::string_view initial = {};  // the default as text; empty: there is none
};

/// How many inputs and outputs a node has, omitted ones included.
struct NodeCounts {
  int min_inputs = 0;
  int max_inputs = 0;
  int min_outputs = 0;
  int max_outputs = 0;
};

struct OperatorSignature {
  std::span<const FormalParameter> inputs;
  std::span<const FormalParameter> outputs;
  std::span<const TypeVariable> variables;
  std::span<const AttributeInfo> attributes;
  NodeCounts counts;
};

const OperatorSignature& SignatureOf(OperatorId id);

/// The formal parameter at an actual position, the last one standing for all
/// that a variadic takes; null behind the end.
const FormalParameter* FormalAt(std::span<const FormalParameter> formals,
                                size_t position);

/// "float32", "seq(float32)", "optional(seq(int64))", "map(string,float32)";
/// empty where a part of the type is unknown.
std::string Word(const ValueType& type);

/// The same as ONNX's schemas write it: "tensor(float)", "seq(tensor(int64))".
std::string SchemaWord(const ValueType& type);

/// Where the member of a formal parameter is.
using InputSlot = std::variant<Input*, VariadicInput*>;
using OutputSlot = std::variant<Output*, VariadicOutput*>;

/// Where an attribute goes. The member that the slot points at holds the
/// default, and keeps it when the node does not give the attribute.
using AttributeSlot =
    std::variant<float*, int64_t*, std::string*, Tensor*, SparseTensor*,
                 ValueType*, std::shared_ptr<const Graph>*, std::vector<float>*,
                 std::vector<int64_t>*, std::vector<std::string>*,
                 std::optional<float>*, std::optional<int64_t>*,
                 std::optional<std::string>*, std::optional<Tensor>*,
                 std::optional<SparseTensor>*, std::optional<ValueType>*>;

/// The slots in the order of SignatureOf(id). Invalid argument, with operator,
/// place, found and wanted, for a node that does not fit; unsupported, reason
/// opset, for one of an older version.
Status ReadSlots(const Node& node, OperatorId id,
                 std::initializer_list<InputSlot> inputs,
                 std::initializer_list<OutputSlot> outputs,
                 std::initializer_list<AttributeSlot> attributes);

template <class Op>
Status ReadForm(Op* op, const Node& node,
                std::initializer_list<InputSlot> inputs,
                std::initializer_list<OutputSlot> outputs,
                std::initializer_list<AttributeSlot> attributes = {}) {
  op->node = &node;
  return ReadSlots(node, Op::kId, inputs, outputs, attributes);
}

}  // namespace assay::types
