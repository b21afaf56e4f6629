// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/node_edit.h"

#include <algorithm>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"
#include "onnx/defs/parser.h"

namespace assay::edit {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

Result<std::shared_ptr<const Model>> Checked(
    const reader::ModelMessage& message, const Model& from) {
  ASSAY_ASSIGN_OR_RETURN(auto model, message.Parse(from.directory()));
  ASSAY_RETURN_IF_ERROR(types::CheckModel(*model));
  return model;
}

Status ParseNodes(std::string_view text, Nodes* nodes) {
  const auto status = onnx::OnnxParser::Parse(*nodes, StrCat("{", text, "}"));
  if (status.IsOK()) return OkStatus();
  return InvalidArgument(status.ErrorMessage());
}

Result<int> PlaceOf(std::string_view value, const Nodes& nodes) {
  const auto found = std::ranges::find_if(nodes, [&](const auto& node) {
    return !value.empty() &&
           std::ranges::find(node.output(), value) != node.output().end();
  });
  if (found != nodes.end()) return static_cast<int>(found - nodes.begin());
  return NotFound("no node of the graph computes '", value, "'");
}

}  // namespace

Result<std::shared_ptr<const Model>> AddNodes(const Model& model,
                                              std::string_view nodes) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  Nodes added;
  ASSAY_RETURN_IF_ERROR(ParseNodes(nodes, &added));
  message.proto.mutable_graph()->mutable_node()->MergeFrom(added);
  return Checked(message, model);
}

Result<std::shared_ptr<const Model>> AddOutput(const Model& model,
                                               std::string_view value) {
  ASSAY_ASSIGN_OR_RETURN(const Graph graph, InferTypes(model));
  const ValueId id = graph.FindValue(value);
  if (id == kNoValue) {
    return NotFound("the graph has no value '", value, "'");
  }
  if (std::ranges::find(graph.outputs, id) != graph.outputs.end()) {
    return InvalidArgument("'", value, "' is an output already");
  }
  if (graph[id].type.kind == ValueKind::kNone) {
    return InvalidArgument("the type of '", value, "' is not known");
  }
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::ValueInfoProto* const output =
      message.proto.mutable_graph()->add_output();
  graph::WriteInfo(graph[id].name, graph[id].type, *output);
  return Checked(message, model);
}

Result<std::shared_ptr<const Model>> ReplaceNode(const Model& model,
                                                 std::string_view value,
                                                 std::string_view nodes) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  Nodes* const all = message.proto.mutable_graph()->mutable_node();
  ASSAY_ASSIGN_OR_RETURN(const int place, PlaceOf(value, *all));
  Nodes added;
  ASSAY_RETURN_IF_ERROR(ParseNodes(nodes, &added));
  all->DeleteSubrange(place, 1);
  const int before = all->size();
  all->MergeFrom(added);
  std::rotate(all->pointer_begin() + place, all->pointer_begin() + before,
              all->pointer_end());
  return Checked(message, model);
}

Result<std::shared_ptr<const Model>> SetAttribute(const Model& model,
                                                  std::string_view value,
                                                  const Attribute& attribute) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  Nodes* const all = message.proto.mutable_graph()->mutable_node();
  ASSAY_ASSIGN_OR_RETURN(const int place, PlaceOf(value, *all));
  Node holder;
  holder.attributes = {attribute};
  onnx::NodeProto written;
  graph::WriteNode(holder, {}, written);
  auto& attributes = *all->Mutable(place)->mutable_attribute();
  const auto held = std::ranges::find_if(attributes, [&](const auto& each) {
    return each.name() == attribute.name;
  });
  if (held == attributes.end()) {
    *attributes.Add() = written.attribute(0);
  } else {
    *held = written.attribute(0);
  }
  return Checked(message, model);
}

}  // namespace assay::edit
