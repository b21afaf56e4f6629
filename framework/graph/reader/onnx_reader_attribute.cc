// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/reader/onnx_reader_attribute.h"

namespace assay::reader {
namespace {

using onnx::AttributeProto;

/// Every element of `protos`, read by `read`, as the vector that Held has.
template <class T, class Protos, class Read>
Result<Attribute::Held> ReadList(const Protos& protos, Read read) {
  std::vector<T> list;
  list.reserve(static_cast<size_t>(protos.size()));
  for (const auto& proto : protos) {
    ASSAY_ASSIGN_OR_RETURN(T element, read(proto));
    list.push_back(std::move(element));
  }
  return Attribute::Held(std::move(list));
}

template <class T, class Field>
Attribute::Held CopyList(const Field& field) {
  return std::vector<T>(field.begin(), field.end());
}

template <class T>
Result<Attribute::Held> Hold(Result<T> read) {
  if (!read.ok()) return read.status();
  return Attribute::Held(*std::move(read));
}

/// True when a single value of the stated type is there; lists may be empty.
bool HasValue(const AttributeProto& proto) {
  switch (proto.type()) {
    case AttributeProto::FLOAT:
      return proto.has_f();
    case AttributeProto::INT:
      return proto.has_i();
    case AttributeProto::STRING:
      return proto.has_s();
    case AttributeProto::TENSOR:
      return proto.has_t();
    case AttributeProto::GRAPH:
      return proto.has_g();
    case AttributeProto::SPARSE_TENSOR:
      return proto.has_sparse_tensor();
    case AttributeProto::TYPE_PROTO:
      return proto.has_tp();
    default:
      return true;
  }
}

Result<Attribute::Held> ReadHeld(const AttributeProto& proto,
                                 const External& external,
                                 const SubgraphReader& read_subgraph) {
  const auto tensor = [&](const onnx::TensorProto& t) {
    return ReadTensor(t, external);
  };
  const auto sparse = [&](const onnx::SparseTensorProto& t) {
    return ReadSparse(t, external);
  };
  using SharedGraph = std::shared_ptr<const Graph>;
  const auto graph = [&](const onnx::GraphProto& g) -> Result<SharedGraph> {
    ASSAY_ASSIGN_OR_RETURN(Graph read, read_subgraph(g));
    return SharedGraph(std::make_shared<const Graph>(std::move(read)));
  };
  switch (proto.type()) {
    case AttributeProto::FLOAT:
      return Attribute::Held(proto.f());
    case AttributeProto::INT:
      return Attribute::Held(static_cast<int64_t>(proto.i()));
    case AttributeProto::STRING:
      return Attribute::Held(proto.s());
    case AttributeProto::TENSOR:
      return Hold(tensor(proto.t()));
    case AttributeProto::GRAPH:
      return Hold(graph(proto.g()));
    case AttributeProto::SPARSE_TENSOR:
      return Hold(sparse(proto.sparse_tensor()));
    case AttributeProto::TYPE_PROTO:
      return Hold(ReadType(proto.tp()));
    case AttributeProto::FLOATS:
      return CopyList<float>(proto.floats());
    case AttributeProto::INTS:
      return CopyList<int64_t>(proto.ints());
    case AttributeProto::STRINGS:
      return CopyList<std::string>(proto.strings());
    case AttributeProto::TENSORS:
      return ReadList<Tensor>(proto.tensors(), tensor);
    case AttributeProto::GRAPHS:
      return ReadList<SharedGraph>(proto.graphs(), graph);
    case AttributeProto::SPARSE_TENSORS:
      return ReadList<SparseTensor>(proto.sparse_tensors(), sparse);
    case AttributeProto::TYPE_PROTOS:
      return ReadList<ValueType>(proto.type_protos(), ReadType);
    case AttributeProto::UNDEFINED:
      break;
  }
  return InvalidArgument("has no type");
}

}  // namespace

Result<Attribute> ReadAttribute(const AttributeProto& proto,
                                const External& external,
                                const SubgraphReader& read_subgraph) {
  const std::string place = StrCat("attribute '", proto.name(), "'");
  if (proto.name().empty()) return InvalidArgument("an attribute has no name");
  Attribute attribute;
  attribute.name = proto.name();
  attribute.ref = proto.ref_attr_name();
  if (!attribute.ref.empty()) return attribute;
  if (!HasValue(proto)) {
    return InvalidArgument(place, " has no value of its type");
  }
  Result<Attribute::Held> held = ReadHeld(proto, external, read_subgraph);
  if (!held.ok()) return held.status().WithContext(place);
  attribute.held = *std::move(held);
  return attribute;
}

}  // namespace assay::reader
