// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/submodel.h"

#include <algorithm>
#include <limits>
#include <set>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

graph::Names NamesOf(const Graph& graph) {
  graph::Names names;
  for (const ValueInfo& info : graph.values) names.push_back(info.name);
  return names;
}

void WriteGraph(const Graph& graph, const Submodel& part,
                onnx::GraphProto& proto) {
  const graph::Names names = NamesOf(graph);
  proto.set_name(graph.name.empty() ? "part" : graph.name);
  const auto write = [&](const Port& port, onnx::ValueInfoProto& info) {
    graph::WriteInfo(names[static_cast<size_t>(port.id)], port.type, info);
  };
  for (const Port& port : part.inputs) write(port, *proto.add_input());
  for (const Port& port : part.outputs) write(port, *proto.add_output());
  for (const ValueId id : BoundaryOf(graph, part.nodes).initializers) {
    if (std::ranges::find(part.inputs, id, &Port::id) != part.inputs.end()) {
      continue;
    }
    const auto fixed = part.fixed.find(id);
    graph::WriteInitializer(
        fixed == part.fixed.end() ? *graph.FindInitializer(id) : fixed->second,
        names[static_cast<size_t>(id)], proto);
  }
  for (const size_t node : part.nodes) {
    graph::WriteNode(graph.nodes[node], names, *proto.add_node());
  }
}

Status WriteFunctions(const Model& model, onnx::ModelProto& proto) {
  for (const Function& function : model.functions()) {
    ASSAY_RETURN_IF_ERROR(
        reader::ParseInto(function.bytes, *proto.add_functions()));
  }
  return OkStatus();
}

Result<std::vector<std::byte>> Bytes(const Model& model, const Graph& graph,
                                     const Submodel& part) {
  reader::ModelMessage message;
  onnx::ModelProto& proto = message.proto;
  // Before version 4 each initializer was an input as well.
  constexpr int64_t kFreeInitializers = 4;
  proto.set_ir_version(std::max(model.ir_version(), kFreeInitializers));
  for (const auto& [domain, version] : model.opsets()) {
    onnx::OperatorSetIdProto* const opset = proto.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  WriteGraph(graph, part, *proto.mutable_graph());
  ASSAY_RETURN_IF_ERROR(WriteFunctions(model, proto));
  const size_t size = proto.ByteSizeLong();
  if (size > std::numeric_limits<int32_t>::max()) {
    return ResourceExhausted("the part of ", part.nodes.size(), " nodes has ",
                             size, " bytes, wanted at most 2 GiB");
  }
  std::vector<std::byte> bytes(size);
  proto.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(bytes.data()));
  return bytes;
}

}  // namespace
std::vector<ValueId> ReadBy(const Node& node) {
  std::vector<ValueId> ids;
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) ids.push_back(id);
  }
  for (const Graph* body : node.Subgraphs()) {
    for (const Capture& capture : body->captures) ids.push_back(capture.outer);
  }
  return ids;
}

Boundary BoundaryOf(const Graph& graph, std::span<const size_t> nodes) {
  const std::set<size_t> inside(nodes.begin(), nodes.end());
  std::set<ValueId> wanted(graph.outputs.begin(), graph.outputs.end());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (inside.contains(i)) continue;
    const auto read = ReadBy(graph.nodes[i]);
    wanted.insert(read.begin(), read.end());
  }
  Boundary edge;
  std::set<ValueId> known;  // computed or listed
  for (const size_t i : inside) {
    const Node& node = graph.nodes[i];
    for (const ValueId id : ReadBy(node)) {
      if (!known.insert(id).second) continue;
      const bool fixed = graph.FindInitializer(id) != nullptr;
      (fixed ? edge.initializers : edge.inputs).push_back(id);
    }
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      known.insert(id);
      if (wanted.contains(id)) edge.outputs.push_back(id);
    }
  }
  return edge;
}

Result<std::shared_ptr<const Model>> MakeSubmodel(const Model& model,
                                                  const Graph& graph,
                                                  const Submodel& part) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         Bytes(model, graph, part));
  return Model::Parse(bytes);
}

}  // namespace assay::edit
