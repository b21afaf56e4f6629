// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"
#include "onnx/shape_inference/implementation.h"

namespace assay::types {
namespace {

using SharedGraph = std::shared_ptr<const Graph>;
using Types = std::unordered_map<std::string_view, const onnx::TypeProto*>;

bool HasUntyped(const Graph& graph) {
  bool found = false;
  ForEachGraph(graph, [&found](const Graph& inner) {
    found = found || std::ranges::count(inner.values, ValueKind::kNone,
                                        [](const ValueInfo& info) {
                                          return info.type.kind;
                                        }) > 0;
  });
  return found;
}

Types CollectTypes(const onnx::GraphProto& proto) {
  Types types;
  for (const auto* infos :
       {&proto.input(), &proto.output(), &proto.value_info()}) {
    for (const onnx::ValueInfoProto& info : *infos) {
      if (info.has_type()) types.emplace(info.name(), &info.type());
    }
  }
  return types;
}

/// True when inference may tell more than is known.
bool IsOpen(const ValueType& type) {
  return type.kind == ValueKind::kNone ||
         (type.kind == ValueKind::kTensor && !type.dims.has_value());
}

Status TypeGraph(const onnx::GraphProto& proto, const Graph* outer,
                 Graph& graph);

/// Types the subgraphs of a node, whose attributes stand in the same order.
Status TypeSubgraphs(const onnx::NodeProto& proto, const Graph& graph,
                     Node& node) {
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    auto* body = std::get_if<SharedGraph>(&node.attributes[i].held);
    if (body == nullptr) continue;
    Graph typed = **body;
    ASSAY_RETURN_IF_ERROR(
        TypeGraph(proto.attribute(static_cast<int>(i)).g(), &graph, typed));
    *body = std::make_shared<const Graph>(std::move(typed));
  }
  return OkStatus();
}

Status TypeGraph(const onnx::GraphProto& proto, const Graph* outer,
                 Graph& graph) {
  const Types types = CollectTypes(proto);
  for (ValueInfo& info : graph.values) {
    const auto found = types.find(info.name);
    if (found == types.end() || !IsOpen(info.type)) continue;
    ASSAY_ASSIGN_OR_RETURN(ValueType type, reader::ReadType(*found->second));
    if (Accepts(info.type, type)) info.type = std::move(type);
  }
  for (const Capture& capture : graph.captures) {
    graph[capture.inner].type = (*outer)[capture.outer].type;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        TypeSubgraphs(proto.node(static_cast<int>(i)), graph, graph.nodes[i]));
  }
  return OkStatus();
}

/// Says of what a Gradient gives, of which ONNX's inference knows nothing, that
/// it is typed as what it differentiates by. False when there was none to add.
bool AddGradientTypes(onnx::GraphProto& graph) {
  const Types types = CollectTypes(graph);
  std::vector<onnx::ValueInfoProto> added;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() != "Gradient" ||
        node.domain() != "ai.onnx.preview.training") {
      continue;
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() != "xs") continue;
      const int count = std::min(attribute.strings_size(), node.output_size());
      for (int i = 0; i < count; ++i) {
        const auto type = types.find(attribute.strings(i));
        if (type == types.end() || node.output(i).empty() ||
            types.contains(node.output(i))) {
          continue;
        }
        onnx::ValueInfoProto& info = added.emplace_back();
        info.set_name(node.output(i));
        *info.mutable_type() = *type->second;
      }
    }
  }
  for (const onnx::ValueInfoProto& info : added) {
    *graph.add_value_info() = info;
  }
  return !added.empty();
}

// ONNX's data propagation takes any vector for a shape, of which it makes an
// entry of some 145 bytes for each element. No shape is longer than this.
constexpr int64_t kLongest = 4096;
constexpr std::string_view kHidden = "assay.hidden.";

bool IsLong(const std::vector<int64_t>& dims) {
  const Result<int64_t> count = Shape(dims).NumElements();
  return count.ok() ? *count > kLongest
                    : count.status().code() == StatusCode::kResourceExhausted;
}

/// The extents that are known; the others are left out.
std::vector<int64_t> KnownDims(const onnx::TypeProto& type) {
  std::vector<int64_t> dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) dims.push_back(dim.dim_value());
  }
  return dims;
}

bool IsWhole(const onnx::TypeProto& type) {
  return type.has_tensor_type() && type.tensor_type().has_shape() &&
         std::ssize(KnownDims(type)) == type.tensor_type().shape().dim_size();
}

/// True when there may be long vectors: many elements may become one.
bool MayHaveLongVectors(const onnx::GraphProto& graph) {
  const auto is_long = [](const auto& named) {
    return IsLong(KnownDims(*named.second));
  };
  const auto is_long_too = [](const onnx::TensorProto& tensor) {
    return IsLong({tensor.dims().begin(), tensor.dims().end()});
  };
  return std::ranges::any_of(CollectTypes(graph), is_long) ||
         std::ranges::any_of(graph.initializer(), is_long_too) ||
         std::ranges::any_of(graph.node(), [](const onnx::NodeProto& node) {
           return std::ranges::any_of(
               node.attribute(), [](const onnx::AttributeProto& attribute) {
                 return attribute.has_g() && MayHaveLongVectors(attribute.g());
               });
         });
}

/// Renames the operators that read a long vector and whose outputs are known,
/// so that inference passes over them; and gives them their names again.
void HideReadersOfLongVectors(onnx::GraphProto& graph) {
  const Types types = CollectTypes(graph);
  const auto is_long = [&](const std::string& name) {
    const auto type = types.find(name);
    if (type == types.end()) return false;
    return type->second->tensor_type().shape().dim_size() == 1 &&
           IsLong(KnownDims(*type->second));
  };
  const auto is_known = [&](const std::string& name) {
    const auto type = types.find(name);
    return type != types.end() && IsWhole(*type->second);
  };
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) HideReadersOfLongVectors(*attribute.mutable_g());
    }
    if (std::ranges::any_of(node.input(), is_long) &&
        std::ranges::all_of(node.output(), is_known)) {
      node.set_op_type(StrCat(kHidden, node.op_type()));
    }
  }
}

void ShowHidden(onnx::GraphProto& graph) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) ShowHidden(*attribute.mutable_g());
    }
    if (node.op_type().starts_with(kHidden)) {
      node.set_op_type(node.op_type().substr(kHidden.size()));
    }
  }
}

void Infer(onnx::ModelProto& proto, bool propagate_data, bool strict = false) {
  const onnx::ShapeInferenceOptions options(
      /*check_type_val=*/false, /*strict_mode_val=*/strict ? 1 : 0,
      propagate_data);
  onnx::shape_inference::InferShapes(proto, onnx::OpSchemaRegistry::Instance(),
                                     options);
}

/// The last of ONNX's words against the shapes of a model; empty: none.
std::string Contradiction(onnx::ModelProto proto) {
  try {
    Infer(proto, !MayHaveLongVectors(proto.graph()), /*strict=*/true);
    return "";
  } catch (const std::exception& error) {
    std::string words = error.what();
    words.erase(0, words.rfind("Error] ") == std::string::npos
                       ? 0
                       : words.rfind("Error] ") + std::strlen("Error] "));
    return words.substr(0, words.find('\n'));
  }
}

/// A node of a model as a model of its own.
onnx::ModelProto Alone(const onnx::ModelProto& model,
                       const onnx::NodeProto& node, const Types& types) {
  onnx::ModelProto alone;
  alone.set_ir_version(model.ir_version());
  *alone.mutable_opset_import() = model.opset_import();
  *alone.mutable_functions() = model.functions();
  onnx::GraphProto& graph = *alone.mutable_graph();
  *graph.add_node() = node;
  for (const onnx::TensorProto& fixed : model.graph().initializer()) {
    if (std::ranges::count(node.input(), fixed.name()) > 0) {
      *graph.add_initializer() = fixed;
    }
  }
  for (const std::string& name : node.input()) {
    const auto type = types.find(name);
    if (type == types.end()) continue;
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    *info.mutable_type() = *type->second;
  }
  for (const onnx::ValueInfoProto& output : model.graph().output()) {
    if (std::ranges::count(node.output(), output.name()) > 0) {
      *graph.add_output() = output;
    }
  }
  return alone;
}

/// The node and what it reads: "Add 'y' of a float32[2] and b float32[5]".
std::string LabelOf(const onnx::NodeProto& node, const Types& types,
                    const onnx::GraphProto& graph) {
  std::string label =
      StrCat(node.op_type(), " '",
             node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                           : node.name(),
             "'");
  const char* before = " of ";
  for (const std::string& name : node.input()) {
    std::string type = "?";
    if (const auto found = types.find(name); found != types.end()) {
      const auto read = reader::ReadType(*found->second);
      if (read.ok()) type = read->ToString();
    }
    for (const onnx::TensorProto& fixed : graph.initializer()) {
      if (fixed.name() != name) continue;
      const std::vector<int64_t> dims(fixed.dims().begin(), fixed.dims().end());
      type = Shape(dims).ToString();
    }
    label += StrCat(before, name, " ", type);
    before = " and ";
  }
  return label;
}

}  // namespace

Status CheckShapes(const Model& model, std::span<const Shape> inputs) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::ModelProto& proto = message.proto;
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.clear_value_info();
  if (!Contradiction(proto).empty()) return OkStatus();
  const std::vector<ValueId>& ids = model.graph().inputs;
  for (size_t i = 0; i < std::min(ids.size(), inputs.size()); ++i) {
    const auto info =
        std::ranges::find(*graph.mutable_input(), model.graph()[ids[i]].name,
                          &onnx::ValueInfoProto::name);
    if (info == graph.mutable_input()->end()) continue;
    auto& shape = *info->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const int64_t extent : inputs[i].dims()) {
      shape.add_dim()->set_dim_value(extent);
    }
  }
  const std::string words = Contradiction(proto);
  if (words.empty()) return OkStatus();
  ASSAY_RETURN_IF_ERROR(reader::RunInference(proto));
  const Types types = CollectTypes(graph);
  for (const onnx::NodeProto& node : graph.node()) {
    const std::string why = Contradiction(Alone(proto, node, types));
    if (why.empty()) continue;
    return InvalidArgument(LabelOf(node, types, graph), ": ", why);
  }
  return InvalidArgument(words);
}

}  // namespace assay::types

namespace assay {

Status reader::RunInference(onnx::ModelProto& proto) {
  try {
    onnx::GraphProto& graph = *proto.mutable_graph();
    const bool hide = types::MayHaveLongVectors(graph);
    if (hide) {
      types::Infer(proto,
                   /*propagate_data=*/false);  // what is long becomes known
      types::HideReadersOfLongVectors(graph);
    }
    types::Infer(proto, /*propagate_data=*/true);
    if (hide) types::ShowHidden(graph);
    return OkStatus();
  } catch (const std::exception& error) {
    return InvalidArgument("shape inference failed: ", error.what());
  } catch (...) {
    return InvalidArgument("shape inference failed");
  }
}

inline namespace v1 {

Result<Graph> InferTypes(const Model& model) {
  Graph graph = model.graph();
  if (model.inferred() || !types::HasUntyped(graph)) return graph;
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::ModelProto& proto = message.proto;
  // Once more for what comes after a Gradient.
  do {
    ASSAY_RETURN_IF_ERROR(reader::RunInference(proto));
  } while (types::AddGradientTypes(*proto.mutable_graph()));
  ASSAY_RETURN_IF_ERROR(types::TypeGraph(proto.graph(), nullptr, graph));
  return graph;
}

}  // namespace v1
}  // namespace assay
