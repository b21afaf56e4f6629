// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/check.h"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/signature.h"
#include "onnx/checker.h"
#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"

namespace assay::types {
namespace {

bool IsExternal(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

template <class Nodes>
bool HoldExternal(const Nodes& nodes);

bool HoldsExternal(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.initializer(), IsExternal) ||
         HoldExternal(graph.node());
}

template <class Nodes>
bool HoldExternal(const Nodes& nodes) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t() && IsExternal(attribute.t())) return true;
      if (attribute.has_g() && HoldsExternal(attribute.g())) return true;
    }
  }
  return false;
}

bool MayAsk(const onnx::ModelProto& model) {
  if (model.ir_version() > onnx::IR_VERSION) return false;
  for (const onnx::FunctionProto& function : model.functions()) {
    if (HoldExternal(function.node())) return false;
  }
  return !HoldsExternal(model.graph());
}

using onnx::OpSchema;
using Interned = onnx::DataType;  // ONNX's type strings are unique pointers

/// ONNX's pointer for a type; null where a part of it is unknown. Those of
/// tensors, which most values are, are looked up once.
Interned InternedOf(const ValueType& type) {
  static thread_local std::unordered_map<DType, Interned> tensors;
  const bool tensor = type.kind == ValueKind::kTensor;
  if (tensor) {
    const auto found = tensors.find(type.dtype);
    if (found != tensors.end()) return found->second;
  }
  const std::string name = SchemaWord(type);
  const Interned interned =
      name.empty() ? nullptr : onnx::Utils::DataTypeUtils::ToType(name);
  if (tensor) tensors.emplace(type.dtype, interned);
  return interned;
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
      ASSAY_RETURN_IF_ERROR(CheckOne(formal, ids[i], {what, i}));
    }
    return OkStatus();
  }

 private:
  /// The formal parameter of an index, for messages.
  struct Where {
    const char* what;
    size_t index;

    std::string Text() const { return StrCat(what, " ", index); }
  };
  struct Bound {
    std::string_view variable;
    Interned type;
    Where where;
  };

  Status CheckOne(const OpSchema::FormalParameter& formal, ValueId id,
                  const Where& where) {
    const ValueType& type = graph_[id].type;
    const Interned found = InternedOf(type);
    if (found == nullptr) return OkStatus();
    if (!formal.GetTypes().contains(found)) {
      return InvalidArgument(node_.Label(), ": ", where.Text(), " is ",
                             type.ToString(), ", which the operator's ",
                             formal.GetName(), " does not permit");
    }
    const bool mixed =
        formal.GetOption() == OpSchema::Variadic && !formal.GetIsHomogeneous();
    if (mixed) return OkStatus();
    const auto bound =
        std::ranges::find(bound_, formal.GetTypeStr(), &Bound::variable);
    if (bound == bound_.end()) {
      bound_.push_back({formal.GetTypeStr(), found, where});
      return OkStatus();
    }
    if (bound->type == found) return OkStatus();
    return InvalidArgument(node_.Label(), ": ", where.Text(), " is ", *found,
                           ", wanted ", *bound->type, " as ",
                           bound->where.Text(), ", both being ",
                           formal.GetTypeStr());
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<Bound> bound_;  // of type variables, which are few
};

}  // namespace

Status CheckModel(const Model& model) {
  if (model.checked()) return OkStatus();
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  if (!MayAsk(message.proto)) return OkStatus();
  try {
    onnx::checker::check_model(message.proto, /*full_check=*/false,
                               /*skip_opset_compatibility_check=*/true);
  } catch (const std::exception& error) {
    // A deprecated operator is no error: ToCurrentOpset replaces it.
    const std::string_view words = error.what();
    if (words.find("is deprecated in domain_version") != words.npos) {
      return OkStatus();
    }
    return InvalidArgument("ONNX's checker: ", error.what());
  }
  return OkStatus();
}

Status CheckTypes(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const onnx::OpSchema* schema =
        onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
    if (schema == nullptr) continue;
    NodeCheck check(graph, node);
    ASSAY_RETURN_IF_ERROR(check.Check(schema->inputs(), node.inputs, "input"));
    ASSAY_RETURN_IF_ERROR(
        check.Check(schema->outputs(), node.outputs, "output"));
  }
  return OkStatus();
}

bool OutputsPermit(OperatorId id, int opset, DType type) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(id)];
  const int version = VersionInForce(info, opset);
  if (version == 0 || version == info.versions.back()) return true;
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(
      std::string(info.name), version, std::string(info.domain));
  if (schema == nullptr) return true;
  const auto interned = [](DType each) {
    return InternedOf(ValueType::OfTensor(each, std::vector<Dim>()));
  };
  return std::ranges::all_of(
      schema->outputs(), [&](const OpSchema::FormalParameter& output) {
        return !output.GetTypes().contains(interned(DType::kFloat32)) ||
               output.GetTypes().contains(interned(type));
      });
}

}  // namespace assay::types
