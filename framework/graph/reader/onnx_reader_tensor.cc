// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <limits>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw_data is little-endian and is copied as it is");

/// A tensor as declared: checked against the data before memory is taken.
struct Claim {
  DType type;
  Shape shape;
  int64_t count;  // elements
  int64_t bytes;  // packed
};

Result<Claim> ReadClaim(const onnx::TensorProto& proto) {
  const auto type = DTypeFromOnnx(proto.data_type());
  if (!type.has_value()) {
    return InvalidArgument("has element type ", proto.data_type(),
                           ", wanted 1 to ", kDTypeCount - 1);
  }
  Shape shape(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()));
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  // 128 bits is the widest element.
  if (count > std::numeric_limits<int64_t>::max() / 16) {
    return ResourceExhausted("shape ", shape.ToString(), " is too large");
  }
  return Claim{*type, std::move(shape), count, PackedBytes(*type, count)};
}

Status CheckCount(const Claim& claim, std::string_view field, int64_t found,
                  int64_t wanted) {
  if (found == wanted) return OkStatus();
  return InvalidArgument("has ", found, " entries of ", field, ", wanted ",
                         wanted, " for ", claim.type, claim.shape.ToString());
}

/// A field whose entries have the very bytes of `per_element`-th of an element.
template <class Field>
Result<Tensor> FromField(const Claim& claim, std::string_view name,
                         const Field& field, int64_t per_element) {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(claim, name, field.size(), claim.count * per_element));
  return Tensor::FromBytes(
      claim.type, claim.shape,
      std::as_bytes(
          std::span(field.data(), static_cast<size_t>(field.size()))));
}

/// uint64_data of a narrower type, int32_data of all that is narrower than 32
/// bits: `Narrow` has the width of an entry's payload.
template <class Narrow, class Field>
Result<Tensor> FromWiderField(const Claim& claim, std::string_view name,
                              const Field& field) {
  using Wide = typename Field::value_type;
  constexpr auto kMin = static_cast<Wide>(
      std::is_signed_v<Wide>
          ? std::numeric_limits<std::make_signed_t<Narrow>>::min()
          : 0);
  constexpr auto kMax = static_cast<Wide>(std::numeric_limits<Narrow>::max());
  ASSAY_RETURN_IF_ERROR(
      CheckCount(claim, name, field.size(),
                 claim.bytes / static_cast<int64_t>(sizeof(Narrow))));
  std::vector<Narrow> narrow;
  narrow.reserve(static_cast<size_t>(field.size()));
  for (const Wide entry : field) {
    if (entry < kMin || entry > kMax) {
      return InvalidArgument("has ", entry, " in ", name,
                             ", which is no element of ", claim.type);
    }
    narrow.push_back(static_cast<Narrow>(entry));
  }
  return Tensor::FromBytes(claim.type, claim.shape,
                           std::as_bytes(std::span(narrow)));
}

/// One element of six bits in each entry.
Result<Tensor> FromSixBitField(
    const Claim& claim, const google::protobuf::RepeatedField<int32_t>& field) {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(claim, "int32_data", field.size(), claim.count));
  std::vector<std::byte> packed(static_cast<size_t>(claim.bytes));
  for (int i = 0; i < field.size(); ++i) {
    const int32_t entry = field[i];
    if (entry < 0 || entry > 63) {
      return InvalidArgument("has ", entry, " in int32_data, wanted 0 to 63");
    }
    const size_t bit = static_cast<size_t>(i) * 6;
    const uint32_t shifted = static_cast<uint32_t>(entry) << (bit % 8);
    packed[bit / 8] |= static_cast<std::byte>(shifted & 0xFF);
    if (shifted > 0xFF)
      packed[bit / 8 + 1] |= static_cast<std::byte>(shifted >> 8);
  }
  return Tensor::FromBytes(claim.type, claim.shape, packed);
}

Result<Tensor> FromStringField(const Claim& claim,
                               const onnx::TensorProto& proto) {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(claim, "string_data", proto.string_data_size(), claim.count));
  return Tensor::FromStrings(
      claim.shape, {proto.string_data().begin(), proto.string_data().end()});
}

Result<Tensor> FromTypedField(const Claim& claim,
                              const onnx::TensorProto& proto) {
  switch (claim.type) {
    case DType::kFloat32:
      return FromField(claim, "float_data", proto.float_data(), 1);
    case DType::kComplex64:
      return FromField(claim, "float_data", proto.float_data(), 2);
    case DType::kFloat64:
      return FromField(claim, "double_data", proto.double_data(), 1);
    case DType::kComplex128:
      return FromField(claim, "double_data", proto.double_data(), 2);
    case DType::kInt32:
      return FromField(claim, "int32_data", proto.int32_data(), 1);
    case DType::kInt64:
      return FromField(claim, "int64_data", proto.int64_data(), 1);
    case DType::kUint64:
      return FromField(claim, "uint64_data", proto.uint64_data(), 1);
    case DType::kUint32:
      return FromWiderField<uint32_t>(claim, "uint64_data",
                                      proto.uint64_data());
    case DType::kString:
      return FromStringField(claim, proto);
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2:
      return FromSixBitField(claim, proto.int32_data());
    default:
      return BitsOf(claim.type) == 16
                 ? FromWiderField<uint16_t>(claim, "int32_data",
                                            proto.int32_data())
                 : FromWiderField<uint8_t>(claim, "int32_data",
                                           proto.int32_data());
  }
}

Result<Tensor> FromRaw(const Claim& claim, const std::string& raw) {
  if (claim.type == DType::kString) {
    return InvalidArgument("has raw_data, wanted string_data for strings");
  }
  return Tensor::FromBytes(claim.type, claim.shape,
                           std::as_bytes(std::span(raw)));
}

/// Bits that no C++ bool may have are refused, and the unused bits of the last
/// byte of a packed type are cleared, so that equal tensors have equal bytes.
Status Normalize(Tensor& tensor) {
  if (tensor.data() == nullptr || tensor.byte_size() == 0) return OkStatus();
  if (tensor.dtype() == DType::kBool) {
    const auto bytes = tensor.bytes();
    const auto bad = std::ranges::find_if(
        bytes, [](std::byte value) { return value > std::byte{1}; });
    if (bad == bytes.end()) return OkStatus();
    return InvalidArgument("has ", std::to_integer<int>(*bad), " as element ",
                           bad - bytes.begin(), " of a bool tensor");
  }
  const int64_t used = tensor.num_elements() * BitsOf(tensor.dtype()) % 8;
  if (used != 0) {
    tensor.mutable_data()[tensor.byte_size() - 1] &=
        static_cast<std::byte>((1 << used) - 1);
  }
  return OkStatus();
}

/// "Exactly one of the fields below with name ending in _data is used to store
/// the elements of the tensor" (onnx.proto).
Status CheckOneField(const onnx::TensorProto& proto) {
  std::vector<std::string_view> fields;
  const auto note = [&](std::string_view name, auto size) {
    if (size > 0) fields.push_back(name);
  };
  note("raw_data", proto.raw_data().size());
  note("float_data", proto.float_data_size());
  note("int32_data", proto.int32_data_size());
  note("string_data", proto.string_data_size());
  note("int64_data", proto.int64_data_size());
  note("double_data", proto.double_data_size());
  note("uint64_data", proto.uint64_data_size());
  if (fields.size() < 2) return OkStatus();
  return InvalidArgument("has ", fields[0], " and ", fields[1],
                         ", wanted one field of data");
}

Result<Tensor> ReadData(const onnx::TensorProto& proto,
                        const External& external) {
  if (proto.has_segment()) {
    return Unsupported(Reason::kReader, "is a segment of a larger tensor");
  }
  ASSAY_ASSIGN_OR_RETURN(const Claim claim, ReadClaim(proto));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return ReadExternal(proto, claim.type, claim.shape, external);
  }
  ASSAY_RETURN_IF_ERROR(CheckOneField(proto));
  if (proto.has_raw_data()) return FromRaw(claim, proto.raw_data());
  return FromTypedField(claim, proto);
}

}  // namespace

Result<Tensor> ReadTensor(const onnx::TensorProto& proto,
                          const External& external) {
  Result<Tensor> tensor = ReadData(proto, external);
  Status status = tensor.status();
  if (status.ok()) status = Normalize(*tensor);
  if (status.ok()) return tensor;
  return status.WithContext(StrCat("tensor '", proto.name(), "'"));
}

}  // namespace assay::reader
