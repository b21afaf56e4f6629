// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/type_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"

namespace assay {
namespace [[gnu::visibility("hidden")]] reader {
namespace {

using onnx::OpSchema;
using Interned = onnx::DataType;  // ONNX's type strings are unique pointers

/// "tensor(float)", "seq(tensor(int64))", ... as ONNX's schemas write it;
/// nothing where a part of the type is unknown.
std::optional<std::string> SchemaName(const ValueType& type) {
  std::string dtype(ToString(type.dtype));
  if (type.dtype == DType::kFloat32) dtype = "float";
  if (type.dtype == DType::kFloat64) dtype = "double";
  const auto known = [&](std::string name) {
    return type.dtype == DType::kUndefined ? std::nullopt
                                           : std::optional(std::move(name));
  };
  const auto inner =
      type.element ? SchemaName(*type.element) : std::optional<std::string>();
  const auto wrapped = [&](const std::string& before) {
    return inner.has_value() ? std::optional(StrCat(before, *inner, ")"))
                             : std::nullopt;
  };
  switch (type.kind) {
    case ValueKind::kTensor:
      return known(StrCat("tensor(", dtype, ")"));
    case ValueKind::kSparseTensor:
      return known(StrCat("sparse_tensor(", dtype, ")"));
    case ValueKind::kSequence:
      return wrapped("seq(");
    case ValueKind::kOptional:
      return wrapped("optional(");
    case ValueKind::kMap:
      return wrapped(StrCat("map(", dtype, ","));
    case ValueKind::kNone:
      break;
  }
  return std::nullopt;
}

/// Checks the values of one node, formal parameter by formal parameter.
class NodeCheck {
 public:
  NodeCheck(const Graph& graph, const Node& node)
      : graph_(graph), node_(node) {}

  Status Check(const std::vector<OpSchema::FormalParameter>& formals,
               const std::vector<ValueId>& ids, const char* what) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == kNoValue || formals.empty()) continue;
      const auto& formal = formals[std::min(i, formals.size() - 1)];
      ASSAY_RETURN_IF_ERROR(CheckOne(formal, ids[i], StrCat(what, " ", i)));
    }
    return OkStatus();
  }

 private:
  struct Bound {
    Interned type = nullptr;
    std::string where;
  };

  Status CheckOne(const OpSchema::FormalParameter& formal, ValueId id,
                  const std::string& where) {
    const ValueType& type = graph_[id].type;
    const std::optional<std::string> name = SchemaName(type);
    if (!name.has_value()) return OkStatus();
    const Interned found = onnx::Utils::DataTypeUtils::ToType(*name);
    if (!formal.GetTypes().contains(found)) {
      return InvalidArgument(node_.Label(), ": ", where, " is ",
                             type.ToString(), ", which the operator's ",
                             formal.GetName(), " does not permit");
    }
    const bool mixed =
        formal.GetOption() == OpSchema::Variadic && !formal.GetIsHomogeneous();
    if (mixed) return OkStatus();
    Bound& bound = bound_[formal.GetTypeStr()];
    if (bound.type == nullptr) bound = {found, where};
    if (bound.type == found) return OkStatus();
    return InvalidArgument(node_.Label(), ": ", where, " is ", *found,
                           ", wanted ", *bound.type, " as ", bound.where,
                           ", both being ", formal.GetTypeStr());
  }

  const Graph& graph_;
  const Node& node_;
  std::unordered_map<std::string, Bound> bound_;  // by type variable
};

}  // namespace
}  // namespace reader

inline namespace v1 {

Status CheckTypes(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const onnx::OpSchema* schema =
        onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
    if (schema == nullptr) continue;
    reader::NodeCheck check(graph, node);
    ASSAY_RETURN_IF_ERROR(check.Check(schema->inputs(), node.inputs, "input"));
    ASSAY_RETURN_IF_ERROR(
        check.Check(schema->outputs(), node.outputs, "output"));
  }
  return OkStatus();
}

}  // namespace v1
}  // namespace assay
