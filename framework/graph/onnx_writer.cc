// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/onnx_writer.h"

#include <array>
#include <utility>
#include <variant>

namespace assay::graph {
namespace {

using onnx::AttributeProto;
using SharedGraph = std::shared_ptr<const Graph>;

template <class TensorType>
void WriteTensorType(const ValueType& type, TensorType& proto) {
  proto.set_elem_type(static_cast<int>(type.dtype));
  if (!type.dims.has_value()) return;
  onnx::TensorShapeProto* const shape = proto.mutable_shape();
  for (const Dim& dim : *type.dims) {
    auto* const entry = shape->add_dim();
    if (dim.known()) entry->set_dim_value(dim.extent);
    if (!dim.known() && !dim.symbol.empty()) entry->set_dim_param(dim.symbol);
  }
}

void WriteElement(const ValueType& type, onnx::TypeProto& proto) {
  if (type.element != nullptr) WriteType(*type.element, proto);
}

/// Names of a subgraph's values: those it captures keep the outer name, its
/// own get one that ends in the path of numbers by which it is reached. They
/// are identifiers of ONNX's text form, in which some bodies are written.
Names NamesOf(const Graph& graph, const Names& outer, const std::string& path) {
  Names names(graph.values.size());
  for (size_t id = 0; id < names.size(); ++id) {
    names[id] = StrCat("inner", path, "_", id);
  }
  for (const Capture& capture : graph.captures) {
    names[static_cast<size_t>(capture.inner)] =
        outer[static_cast<size_t>(capture.outer)];
  }
  return names;
}

/// By the alternative of Attribute::Held.
constexpr std::array<AttributeProto::AttributeType, 15> kTypes = {
    AttributeProto::UNDEFINED,     AttributeProto::FLOAT,
    AttributeProto::INT,           AttributeProto::STRING,
    AttributeProto::TENSOR,        AttributeProto::GRAPH,
    AttributeProto::SPARSE_TENSOR, AttributeProto::TYPE_PROTO,
    AttributeProto::FLOATS,        AttributeProto::INTS,
    AttributeProto::STRINGS,       AttributeProto::TENSORS,
    AttributeProto::GRAPHS,        AttributeProto::SPARSE_TENSORS,
    AttributeProto::TYPE_PROTOS};
static_assert(kTypes.size() == std::variant_size_v<Attribute::Held>);

/// Writes one node, and the graphs below it.
class NodeWriter {
 public:
  NodeWriter(const Names& names, std::string path)
      : names_(names), path_(std::move(path)) {}

  void Write(const Node& node, onnx::NodeProto& proto) const {
    proto.set_op_type(node.op_type);
    proto.set_domain(node.domain);
    proto.set_name(node.name);
    if (!node.overload.empty()) proto.set_overload(node.overload);
    for (const ValueId id : node.inputs) proto.add_input(NameOf(id));
    for (const ValueId id : node.outputs) proto.add_output(NameOf(id));
    for (const Attribute& attribute : node.attributes) {
      WriteAttribute(attribute, *proto.add_attribute());
    }
  }

 private:
  std::string NameOf(ValueId id) const {
    return id == kNoValue ? std::string() : names_[static_cast<size_t>(id)];
  }

  void WriteGraph(const Graph& graph, onnx::GraphProto& proto) const {
    const std::string path = StrCat(path_, "_", graph_count_++);
    const Names names = NamesOf(graph, names_, path);
    const NodeWriter inner(names, path);
    proto.set_name(graph.name.empty() ? "subgraph" : graph.name);
    const auto declare = [&](ValueId id, onnx::ValueInfoProto& info) {
      WriteInfo(names[static_cast<size_t>(id)], graph[id].type, info);
    };
    for (const ValueId id : graph.inputs) declare(id, *proto.add_input());
    for (const ValueId id : graph.outputs) declare(id, *proto.add_output());
    for (const Initializer& initializer : graph.initializers) {
      WriteInitializer(initializer.value,
                       names[static_cast<size_t>(initializer.id)], proto);
    }
    for (const Node& node : graph.nodes) inner.Write(node, *proto.add_node());
  }

  void WriteAttribute(const Attribute& attribute, AttributeProto& proto) const {
    proto.set_name(attribute.name);
    const auto type = kTypes.at(attribute.held.index());
    if (type != AttributeProto::UNDEFINED) proto.set_type(type);
    std::visit([&](const auto& held) { Hold(held, proto); }, attribute.held);
  }

  void Hold(std::monostate, AttributeProto&) const {}
  void Hold(float held, AttributeProto& proto) const { proto.set_f(held); }
  void Hold(int64_t held, AttributeProto& proto) const { proto.set_i(held); }
  void Hold(const std::string& held, AttributeProto& proto) const {
    proto.set_s(held);
  }
  void Hold(const Tensor& held, AttributeProto& proto) const {
    WriteTensor(held, *proto.mutable_t());
  }
  void Hold(const SharedGraph& held, AttributeProto& proto) const {
    WriteGraph(*held, *proto.mutable_g());
  }
  void Hold(const SparseTensor& held, AttributeProto& proto) const {
    WriteSparse(held, *proto.mutable_sparse_tensor());
  }
  void Hold(const ValueType& held, AttributeProto& proto) const {
    WriteType(held, *proto.mutable_tp());
  }
  void Hold(const std::vector<float>& held, AttributeProto& proto) const {
    proto.mutable_floats()->Add(held.begin(), held.end());
  }
  void Hold(const std::vector<int64_t>& held, AttributeProto& proto) const {
    proto.mutable_ints()->Add(held.begin(), held.end());
  }
  void Hold(const std::vector<std::string>& held, AttributeProto& proto) const {
    for (const std::string& text : held) proto.add_strings(text);
  }
  void Hold(const std::vector<Tensor>& held, AttributeProto& proto) const {
    for (const Tensor& tensor : held) WriteTensor(tensor, *proto.add_tensors());
  }
  void Hold(const std::vector<SharedGraph>& held, AttributeProto& proto) const {
    for (const auto& graph : held) WriteGraph(*graph, *proto.add_graphs());
  }
  void Hold(const std::vector<SparseTensor>& held,
            AttributeProto& proto) const {
    for (const auto& sparse : held) {
      WriteSparse(sparse, *proto.add_sparse_tensors());
    }
  }
  void Hold(const std::vector<ValueType>& held, AttributeProto& proto) const {
    for (const auto& type : held) WriteType(type, *proto.add_type_protos());
  }

  const Names& names_;
  const std::string path_;
  mutable int graph_count_ = 0;
};

}  // namespace

void WriteType(const ValueType& type, onnx::TypeProto& proto) {
  switch (type.kind) {
    case ValueKind::kNone:
      break;
    case ValueKind::kTensor:
      WriteTensorType(type, *proto.mutable_tensor_type());
      break;
    case ValueKind::kSparseTensor:
      WriteTensorType(type, *proto.mutable_sparse_tensor_type());
      break;
    case ValueKind::kSequence:
      WriteElement(type, *proto.mutable_sequence_type()->mutable_elem_type());
      break;
    case ValueKind::kOptional:
      WriteElement(type, *proto.mutable_optional_type()->mutable_elem_type());
      break;
    case ValueKind::kMap:
      proto.mutable_map_type()->set_key_type(static_cast<int>(type.dtype));
      WriteElement(type, *proto.mutable_map_type()->mutable_value_type());
      break;
  }
}

void WriteInfo(const std::string& name, const ValueType& type,
               onnx::ValueInfoProto& proto) {
  proto.set_name(name);
  if (type.kind != ValueKind::kNone) WriteType(type, *proto.mutable_type());
}

void WriteTensor(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const int64_t extent : tensor.shape().dims()) proto.add_dims(extent);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.strings()) {
      proto.add_string_data(text);
    }
    return;
  }
  proto.set_raw_data(tensor.data(), static_cast<size_t>(tensor.byte_size()));
}

void WriteSparse(const SparseTensor& sparse, onnx::SparseTensorProto& proto) {
  WriteTensor(sparse.values, *proto.mutable_values());
  WriteTensor(sparse.indices, *proto.mutable_indices());
  for (const int64_t extent : sparse.shape.dims()) proto.add_dims(extent);
}

void WriteInitializer(const Value& value, const std::string& name,
                      onnx::GraphProto& proto) {
  if (const Tensor* tensor = value.tensor()) {
    onnx::TensorProto* const written = proto.add_initializer();
    WriteTensor(*tensor, *written);
    written->set_name(name);
  }
}

void WriteNode(const Node& node, const Names& names, onnx::NodeProto& proto) {
  NodeWriter(names, "").Write(node, proto);
}

}  // namespace assay::graph
