// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/doubled.h"

#include <set>
#include <span>
#include <string_view>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

constexpr std::string_view kAgain = "/again";

/// Names in the second half: those that nodes give have another end there.
class Again {
 public:
  explicit Again(const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& node : graph.node()) {
      given_.insert(node.output().begin(), node.output().end());
    }
    given_.erase("");  // an output that is left out
  }

  void Rename(std::string* name) const {
    if (given_.contains(*name)) name->append(kAgain);
  }

  /// A body has names of its own; what it reads from outside stays that of the
  /// first half, whose value is the same.
  void Rename(onnx::NodeProto* node) const {
    if (node->has_name()) node->mutable_name()->append(kAgain);
    for (std::string& name : *node->mutable_input()) Rename(&name);
    for (std::string& name : *node->mutable_output()) Rename(&name);
  }

 private:
  std::set<std::string> given_;
};

}  // namespace

Result<std::shared_ptr<const Model>> Doubled(const Model& model,
                                             const std::string& unread) {
  if (model.graph().FindValue(unread) != kNoValue) {
    return InvalidArgument("the graph has a value '", unread, "' already");
  }
  google::protobuf::Arena arena;
  auto* proto =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), *proto));
  onnx::GraphProto* graph = proto->mutable_graph();
  const Again again(*graph);
  for (int i = 0, count = graph->node_size(); i < count; ++i) {
    onnx::NodeProto* node = graph->add_node();
    *node = graph->node(i);
    again.Rename(node);
  }
  for (int i = 0, count = graph->output_size(); i < count; ++i) {
    onnx::ValueInfoProto* output = graph->add_output();
    *output = graph->output(i);
    again.Rename(output->mutable_name());
  }
  onnx::ValueInfoProto* input = graph->add_input();
  input->set_name(unread);
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  const std::string bytes = proto->SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)), model.directory());
}

}  // namespace assay::edit
