// SPDX-License-Identifier: Apache-2.0

#include "framework/core/dtype.h"

#include <array>

namespace assay::inline v1 {
namespace {

struct DTypeInfo {
  std::string_view name;
  int bits;
  DTypeClass kind;
};

using enum DTypeClass;

// Indexed by the number in TensorProto.DataType.
constexpr std::array<DTypeInfo, kDTypeCount> kInfos = {{
    {"undefined", 0, kNone},       {"float32", 32, kFloat},
    {"uint8", 8, kUnsigned},       {"int8", 8, kSigned},
    {"uint16", 16, kUnsigned},     {"int16", 16, kSigned},
    {"int32", 32, kSigned},        {"int64", 64, kSigned},
    {"string", 0, kString},        {"bool", 8, kBool},
    {"float16", 16, kFloat},       {"float64", 64, kFloat},
    {"uint32", 32, kUnsigned},     {"uint64", 64, kUnsigned},
    {"complex64", 64, kComplex},   {"complex128", 128, kComplex},
    {"bfloat16", 16, kFloat},      {"float8e4m3fn", 8, kFloat},
    {"float8e4m3fnuz", 8, kFloat}, {"float8e5m2", 8, kFloat},
    {"float8e5m2fnuz", 8, kFloat}, {"uint4", 4, kUnsigned},
    {"int4", 4, kSigned},          {"float4e2m1", 4, kFloat},
    {"float8e8m0", 8, kFloat},     {"uint2", 2, kUnsigned},
    {"int2", 2, kSigned},          {"float6e2m3", 6, kFloat},
    {"float6e3m2", 6, kFloat},
}};

const DTypeInfo& InfoOf(DType type) {
  return kInfos.at(static_cast<size_t>(type));
}

}  // namespace

std::string_view ToString(DType type) { return InfoOf(type).name; }

std::ostream& operator<<(std::ostream& out, DType type) {
  return out << ToString(type);
}

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 1; i < kInfos.size(); ++i) {
    if (kInfos.at(i).name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromOnnx(int number) {
  if (number < 1 || number >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(number);
}

int BitsOf(DType type) { return InfoOf(type).bits; }

DTypeClass ClassOf(DType type) { return InfoOf(type).kind; }

int64_t PackedBytes(DType type, int64_t count) {
  const int64_t bits = BitsOf(type);
  return bits % 8 == 0 ? count * (bits / 8)
                       : count / 8 * bits + (count % 8 * bits + 7) / 8;
}

}  // namespace assay::inline v1
