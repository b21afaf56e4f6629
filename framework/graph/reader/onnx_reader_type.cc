// SPDX-License-Identifier: Apache-2.0

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

}  // namespace assay::reader
