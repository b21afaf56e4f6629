// SPDX-License-Identifier: Apache-2.0

#include <google/protobuf/arena.h>

#include <type_traits>
#include <utility>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

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
