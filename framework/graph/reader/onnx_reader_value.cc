// SPDX-License-Identifier: Apache-2.0

#include <google/protobuf/arena.h>

#include <type_traits>
#include <utility>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

/// 0 is read as undefined: an untyped value of a model in the making.
Result<DType> ReadElementType(int number) {
  if (number == 0) return DType::kUndefined;
  if (const auto type = DTypeFromOnnx(number)) return *type;
  return InvalidArgument("element type ", number, ", wanted 1 to ",
                         kDTypeCount - 1);
}

std::vector<Dim> ReadDims(const onnx::TensorShapeProto& proto) {
  std::vector<Dim> dims;
  dims.reserve(static_cast<size_t>(proto.dim_size()));
  for (const onnx::TensorShapeProto::Dimension& dim : proto.dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.emplace_back(dim.dim_value());
    } else {
      dims.emplace_back(dim.dim_param());
    }
  }
  return dims;
}

template <class TensorType>
Result<ValueType> ReadTensorType(ValueKind kind, const TensorType& proto) {
  ValueType type;
  type.kind = kind;
  ASSAY_ASSIGN_OR_RETURN(type.dtype, ReadElementType(proto.elem_type()));
  if (proto.has_shape()) type.dims = ReadDims(proto.shape());
  return type;
}

Result<ValueType> ReadNested(ValueKind kind, const onnx::TypeProto& element) {
  ValueType type;
  type.kind = kind;
  ASSAY_ASSIGN_OR_RETURN(ValueType inner, ReadType(element));
  type.element = std::make_shared<const ValueType>(std::move(inner));
  return type;
}

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
    case AttributeProto::TYPE_PROTOS:
      return ReadList<ValueType>(proto.type_protos(), ReadType);
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::SPARSE_TENSORS:  // dense, by MakeDense
    case AttributeProto::UNDEFINED:
      break;
  }
  return InvalidArgument("has no type");
}

Result<Value> FromSequence(const onnx::SequenceProto& proto,
                           const ValueType& type);
Result<Value> FromOptional(const onnx::OptionalProto& proto,
                           const ValueType& type);
Result<Value> FromMap(const onnx::MapProto& proto, const ValueType& type);

Result<Value> FromTensor(const onnx::TensorProto& proto, const ValueType&) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(proto, {}));
  return Value(std::move(tensor));
}

Result<Value> FromSparse(const onnx::SparseTensorProto& proto,
                         const ValueType&) {
  ASSAY_ASSIGN_OR_RETURN(SparseTensor sparse, ReadSparse(proto, {}));
  return Value(std::move(sparse));
}

/// The declared element, or, where the declaration does not say, the kind and
/// element type of what was found; extents may differ between elements.
ValueType ElementType(const ValueType& declared, const Value* found) {
  if (declared.element != nullptr) return *declared.element;
  if (found == nullptr) return {};
  const ValueType exact = found->Type();
  ValueType loose;
  loose.kind = exact.kind;
  loose.dtype = exact.dtype;
  loose.element = exact.element;
  return loose;
}

/// The element type inside a nested declaration.
const ValueType& Inside(const ValueType& type) {
  static const ValueType kNone;
  return type.element == nullptr ? kNone : *type.element;
}

template <class Protos, class Read>
Result<std::vector<Value>> ReadItems(const Protos& protos, Read read,
                                     const ValueType& type) {
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(protos.size()));
  for (int i = 0; i < protos.size(); ++i) {
    Result<Value> item = read(protos[i], type);
    if (!item.ok()) return item.status().WithContext(StrCat("item ", i));
    items.push_back(*std::move(item));
  }
  return items;
}

Result<std::vector<Value>> SequenceItems(const onnx::SequenceProto& proto,
                                         const ValueType& type) {
  switch (proto.elem_type()) {
    case onnx::SequenceProto::UNDEFINED:
      return std::vector<Value>();
    case onnx::SequenceProto::TENSOR:
      return ReadItems(proto.tensor_values(), FromTensor, type);
    case onnx::SequenceProto::SPARSE_TENSOR:
      return ReadItems(proto.sparse_tensor_values(), FromSparse, type);
    case onnx::SequenceProto::SEQUENCE:
      return ReadItems(proto.sequence_values(), FromSequence, type);
    case onnx::SequenceProto::MAP:
      return ReadItems(proto.map_values(), FromMap, type);
    case onnx::SequenceProto::OPTIONAL:
      return ReadItems(proto.optional_values(), FromOptional, type);
    default:
      return InvalidArgument("sequence '", proto.name(), "' has element kind ",
                             proto.elem_type(), ", wanted 1 to 5");
  }
}

Result<Value> FromSequence(const onnx::SequenceProto& proto,
                           const ValueType& type) {
  Sequence sequence;
  ASSAY_ASSIGN_OR_RETURN(sequence.items, SequenceItems(proto, Inside(type)));
  sequence.element = ElementType(
      type, sequence.items.empty() ? nullptr : sequence.items.data());
  return Value(std::move(sequence));
}

/// The held value; an absent one when there is none.
Result<Value> Held(const onnx::OptionalProto& proto, const ValueType& type) {
  if (proto.has_tensor_value()) return FromTensor(proto.tensor_value(), type);
  if (proto.has_sparse_tensor_value()) {
    return FromSparse(proto.sparse_tensor_value(), type);
  }
  if (proto.has_sequence_value()) {
    return FromSequence(proto.sequence_value(), type);
  }
  if (proto.has_map_value()) return FromMap(proto.map_value(), type);
  if (proto.has_optional_value()) {
    return FromOptional(proto.optional_value(), type);
  }
  return Value();
}

Result<Value> FromOptional(const onnx::OptionalProto& proto,
                           const ValueType& type) {
  ASSAY_ASSIGN_OR_RETURN(Value held, Held(proto, Inside(type)));
  Optional optional;
  optional.element = ElementType(type, held.present() ? &held : nullptr);
  if (held.present()) {
    optional.value = std::make_shared<const Value>(std::move(held));
  }
  return Value(std::move(optional));
}

template <class T>
Result<Tensor> KeysOf(const onnx::MapProto& proto) {
  std::vector<T> keys;
  keys.reserve(static_cast<size_t>(proto.keys_size()));
  for (const int64_t key : proto.keys()) {
    // Keys of uint64 are written as int64 of the same bits.
    if (!std::is_same_v<T, uint64_t> && !std::in_range<T>(key)) {
      return InvalidArgument("map '", proto.name(), "' has key ", key,
                             ", which is no ", kDTypeOf<T>);
    }
    keys.push_back(static_cast<T>(key));
  }
  return Tensor::Of<T>({static_cast<int64_t>(keys.size())}, keys);
}

Result<Tensor> ReadKeys(const onnx::MapProto& proto) {
  const DType type =
      DTypeFromOnnx(proto.key_type()).value_or(DType::kUndefined);
  if (type == DType::kString) {
    return Tensor::FromStrings(
        {proto.string_keys_size()},
        {proto.string_keys().begin(), proto.string_keys().end()});
  }
  Result<Tensor> keys =
      InvalidArgument("map '", proto.name(), "' has key type ",
                      proto.key_type(), ", wanted an integer or a string");
  VisitInteger(type, [&]<class T>(T) { keys = KeysOf<T>(proto); });
  return keys;
}

Result<Value> FromMap(const onnx::MapProto& proto, const ValueType& type) {
  Map map;
  ASSAY_ASSIGN_OR_RETURN(map.keys, ReadKeys(proto));
  ASSAY_ASSIGN_OR_RETURN(map.values,
                         SequenceItems(proto.values(), Inside(type)));
  if (static_cast<uint64_t>(map.keys.num_elements()) != map.values.size()) {
    return InvalidArgument("map '", proto.name(), "' has ",
                           map.keys.num_elements(), " keys and ",
                           map.values.size(), " values");
  }
  return Value(std::move(map));
}

template <class Proto, class Read>
Result<Value> Parse(std::span<const std::byte> bytes, const ValueType& type,
                    Read read) {
  google::protobuf::Arena arena;
  auto* const proto = google::protobuf::Arena::CreateMessage<Proto>(&arena);
  ASSAY_RETURN_IF_ERROR(ParseInto(bytes, *proto));
  return read(*proto, type);
}

}  // namespace

Result<ValueType> ReadType(const onnx::TypeProto& proto) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      return ReadTensorType(ValueKind::kTensor, proto.tensor_type());
    case onnx::TypeProto::kSparseTensorType:
      return ReadTensorType(ValueKind::kSparseTensor,
                            proto.sparse_tensor_type());
    case onnx::TypeProto::kSequenceType:
      return ReadNested(ValueKind::kSequence,
                        proto.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return ReadNested(ValueKind::kOptional,
                        proto.optional_type().elem_type());
    case onnx::TypeProto::kMapType: {
      ASSAY_ASSIGN_OR_RETURN(
          ValueType type,
          ReadNested(ValueKind::kMap, proto.map_type().value_type()));
      ASSAY_ASSIGN_OR_RETURN(type.dtype,
                             ReadElementType(proto.map_type().key_type()));
      return type;
    }
    case onnx::TypeProto::kOpaqueType:
      return Unsupported(Reason::kReader, "the opaque type '",
                         proto.opaque_type().name(), "'");
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return ValueType();
}

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

namespace assay::inline v1 {

Result<Value> ParseValue(std::span<const std::byte> bytes,
                         const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kTensor:
      return reader::Parse<onnx::TensorProto>(bytes, type, reader::FromTensor);
    case ValueKind::kSparseTensor:
      return reader::Parse<onnx::SparseTensorProto>(bytes, type,
                                                    reader::FromSparse);
    case ValueKind::kSequence:
      return reader::Parse<onnx::SequenceProto>(bytes, type,
                                                reader::FromSequence);
    case ValueKind::kOptional:
      return reader::Parse<onnx::OptionalProto>(bytes, type,
                                                reader::FromOptional);
    case ValueKind::kMap:
      return reader::Parse<onnx::MapProto>(bytes, type, reader::FromMap);
    case ValueKind::kNone:
      break;
  }
  return InvalidArgument("cannot read a value of unknown kind");
}

Result<Value> ReadValue(const std::filesystem::path& file,
                        const ValueType& type) {
  const Result<std::vector<std::byte>> bytes = reader::ReadFile(file);
  if (!bytes.ok()) return bytes.status().WithContext(file.string());
  Result<Value> value = ParseValue(*bytes, type);
  if (!value.ok()) return value.status().WithContext(file.string());
  return value;
}

}  // namespace assay::inline v1
