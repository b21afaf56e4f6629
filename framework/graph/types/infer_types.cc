// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "framework/graph/reader/onnx_reader.h"
#include "onnx/shape_inference/implementation.h"

namespace assay {
namespace reader {
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

/// Whether inference may say more than what is known.
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
    ASSAY_ASSIGN_OR_RETURN(ValueType type, ReadType(*found->second));
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

}  // namespace

Status RunInference(onnx::ModelProto& proto) {
  try {
    const onnx::ShapeInferenceOptions options(
        /*check_type_val=*/false, /*strict_mode_val=*/0,
        /*data_prop_val=*/true);
    onnx::shape_inference::InferShapes(
        proto, onnx::OpSchemaRegistry::Instance(), options);
    return OkStatus();
  } catch (const std::exception& error) {
    return InvalidArgument("shape inference failed: ", error.what());
  } catch (...) {
    return InvalidArgument("shape inference failed");
  }
}

}  // namespace reader

inline namespace v1 {

Result<Graph> InferTypes(const Model& model) {
  Graph graph = model.graph();
  if (!reader::HasUntyped(graph)) return graph;
  google::protobuf::Arena arena;
  auto* proto =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), *proto));
  // Once more for what comes after a Gradient.
  do {
    ASSAY_RETURN_IF_ERROR(reader::RunInference(*proto));
  } while (reader::AddGradientTypes(*proto->mutable_graph()));
  ASSAY_RETURN_IF_ERROR(reader::TypeGraph(proto->graph(), nullptr, graph));
  return graph;
}

}  // namespace v1
}  // namespace assay
