// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/value_bytes.h"

#include <limits>

#include "framework/core/dtype.h"
#include "framework/graph/onnx_writer.h"

namespace assay::graph {
namespace {

using onnx::MapProto;
using onnx::OptionalProto;
using onnx::SequenceProto;

void WriteSequence(const Sequence& sequence, SequenceProto& proto);
void WriteOptional(const Optional& optional, OptionalProto& proto);
void WriteMap(const Map& map, MapProto& proto);

/// Both enumerations of ONNX number the kinds alike, and as ValueKind does but
/// for maps and optionals.
int ElementKind(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNone:
      return SequenceProto::UNDEFINED;
    case ValueKind::kTensor:
      return SequenceProto::TENSOR;
    case ValueKind::kSparseTensor:
      return SequenceProto::SPARSE_TENSOR;
    case ValueKind::kSequence:
      return SequenceProto::SEQUENCE;
    case ValueKind::kOptional:
      return SequenceProto::OPTIONAL;
    case ValueKind::kMap:
      return SequenceProto::MAP;
  }
  return SequenceProto::UNDEFINED;
}

void AddItem(const Value& item, SequenceProto& proto) {
  if (const Tensor* tensor = item.tensor()) {
    WriteTensor(*tensor, *proto.add_tensor_values());
  } else if (const SparseTensor* sparse = item.sparse()) {
    WriteSparse(*sparse, *proto.add_sparse_tensor_values());
  } else if (const Sequence* sequence = item.sequence()) {
    WriteSequence(*sequence, *proto.add_sequence_values());
  } else if (const Map* map = item.map()) {
    WriteMap(*map, *proto.add_map_values());
  } else if (const Optional* optional = item.optional()) {
    WriteOptional(*optional, *proto.add_optional_values());
  }
}

void WriteSequence(const Sequence& sequence, SequenceProto& proto) {
  const ValueKind kind =
      sequence.items.empty() ? sequence.element.kind : sequence.items[0].kind();
  proto.set_elem_type(ElementKind(kind));
  for (const Value& item : sequence.items) AddItem(item, proto);
}

void WriteOptional(const Optional& optional, OptionalProto& proto) {
  const Value none;
  const Value& held = optional.has_value() ? *optional.value : none;
  proto.set_elem_type(
      ElementKind(optional.has_value() ? held.kind() : optional.element.kind));
  if (const Tensor* tensor = held.tensor()) {
    WriteTensor(*tensor, *proto.mutable_tensor_value());
  } else if (const SparseTensor* sparse = held.sparse()) {
    WriteSparse(*sparse, *proto.mutable_sparse_tensor_value());
  } else if (const Sequence* sequence = held.sequence()) {
    WriteSequence(*sequence, *proto.mutable_sequence_value());
  } else if (const Map* map = held.map()) {
    WriteMap(*map, *proto.mutable_map_value());
  } else if (const Optional* inner = held.optional()) {
    WriteOptional(*inner, *proto.mutable_optional_value());
  }
}

void WriteKeys(const Tensor& keys, MapProto& proto) {
  proto.set_key_type(static_cast<int>(keys.dtype()));
  if (keys.dtype() == DType::kString) {
    for (const std::string& key : keys.strings()) proto.add_string_keys(key);
  }
  VisitInteger(keys.dtype(), [&]<class T>(T) {
    for (const T key : keys.elements<T>()) {
      proto.add_keys(static_cast<int64_t>(key));
    }
  });
}

void WriteMap(const Map& map, MapProto& proto) {
  WriteKeys(map.keys, proto);
  SequenceProto& values = *proto.mutable_values();
  values.set_elem_type(ElementKind(map.values.empty() ? ValueKind::kTensor
                                                      : map.values[0].kind()));
  for (const Value& value : map.values) AddItem(value, values);
}

template <class Proto>
Result<std::string> Bytes(Proto& proto) {
  if (proto.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
    return ResourceExhausted("'", proto.name(), "' has ", proto.ByteSizeLong(),
                             " bytes, wanted at most 2 GiB");
  }
  return proto.SerializeAsString();
}

}  // namespace

Result<std::string> SerializeValue(const Value& value,
                                   const std::string& name) {
  const auto written = [&](auto proto, auto write, const auto& held) {
    proto.set_name(name);
    write(held, proto);
    return Bytes(proto);
  };
  if (const Tensor* tensor = value.tensor(); tensor && tensor->defined()) {
    return written(onnx::TensorProto(), WriteTensor, *tensor);
  }
  if (const Sequence* sequence = value.sequence()) {
    return written(SequenceProto(), WriteSequence, *sequence);
  }
  if (const Optional* optional = value.optional()) {
    return written(OptionalProto(), WriteOptional, *optional);
  }
  if (const Map* map = value.map()) {
    return written(MapProto(), WriteMap, *map);
  }
  if (const SparseTensor* sparse = value.sparse()) {
    onnx::SparseTensorProto proto;  // its values carry the name
    WriteSparse(*sparse, proto);
    proto.mutable_values()->set_name(name);
    return proto.SerializeAsString();
  }
  return InvalidArgument("found no value for '", name,
                         "', wanted one to be written");
}

}  // namespace assay::graph
