// SPDX-License-Identifier: Apache-2.0
//
// Finds fields of a newer IR that this reader does not know.

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

template <class Message>
bool Holds(const Message& message) {
  return !message.unknown_fields().empty();
}

// Messages hold each other.
bool Unknown(const onnx::AttributeProto& attribute);
bool Unknown(const onnx::FunctionProto& function);
bool Unknown(const onnx::GraphProto& graph);
bool Unknown(const onnx::NodeProto& node);

bool Unknown(const onnx::TensorProto& tensor) { return Holds(tensor); }

bool Unknown(const onnx::SparseTensorProto& sparse) {
  return Holds(sparse) || Unknown(sparse.values()) || Unknown(sparse.indices());
}

bool Unknown(const onnx::ValueInfoProto& info) {
  return Holds(info) || Holds(info.type());
}

template <class List>
bool AnyUnknown(const List& list) {
  for (const auto& message : list) {
    if (Unknown(message)) return true;
  }
  return false;
}

bool Unknown(const onnx::AttributeProto& attribute) {
  return Holds(attribute) || (attribute.has_t() && Unknown(attribute.t())) ||
         (attribute.has_g() && Unknown(attribute.g())) ||
         (attribute.has_tp() && Holds(attribute.tp())) ||
         AnyUnknown(attribute.tensors()) || AnyUnknown(attribute.graphs());
}

bool Unknown(const onnx::NodeProto& node) {
  return Holds(node) || AnyUnknown(node.attribute());
}

bool Unknown(const onnx::FunctionProto& function) {
  return Holds(function) || AnyUnknown(function.node()) ||
         AnyUnknown(function.attribute_proto());
}

bool Unknown(const onnx::GraphProto& graph) {
  return Holds(graph) || AnyUnknown(graph.node()) ||
         AnyUnknown(graph.initializer()) ||
         AnyUnknown(graph.sparse_initializer()) || AnyUnknown(graph.input()) ||
         AnyUnknown(graph.output()) || AnyUnknown(graph.value_info());
}

}  // namespace

bool HasUnknownFields(const onnx::ModelProto& model) {
  return Holds(model) || AnyUnknown(model.functions()) ||
         Unknown(model.graph());
}

}  // namespace assay::reader
