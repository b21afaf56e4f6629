// SPDX-License-Identifier: Apache-2.0
//
// DType: the 28 element types of ONNX, with the numbers of
// TensorProto.DataType, their widths and their classes.
//
//   const DType type = *ParseDType("bfloat16");
//   BitsOf(type);           // 16
//   IsFloatingPoint(type);  // true
//
// Types narrower than a byte are packed as ONNX packs them: element i occupies
// bits [i * width, (i + 1) * width) of the byte string, lowest bit first.

#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace assay::inline v1 {

enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

inline constexpr int kDTypeCount = 29;  // kUndefined included

/// The arithmetic of a type; it decides how values are compared.
enum class DTypeClass : uint8_t {
  kNone,
  kFloat,
  kSigned,
  kUnsigned,
  kBool,
  kString,
  kComplex
};

/// "float32", "bfloat16", "float8e4m3fn", ...; "undefined" for kUndefined.
std::string_view ToString(DType type);
std::ostream& operator<<(std::ostream& out, DType type);

/// The type of that name, or of that number in TensorProto.DataType.
std::optional<DType> ParseDType(std::string_view name);
std::optional<DType> DTypeFromOnnx(int number);

/// Width of an element in bits; 0 for strings and kUndefined.
int BitsOf(DType type);
DTypeClass ClassOf(DType type);
inline bool IsFloatingPoint(DType type) {
  return ClassOf(type) == DTypeClass::kFloat;
}

/// Bytes that `count` >= 0 elements occupy, packed; 0 for strings.
int64_t PackedBytes(DType type, int64_t count);

/// The DType of a C++ element type that has one of its own.
template <class T>
inline constexpr DType kDTypeOf = DType::kUndefined;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUint8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUint16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kUint32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUint64;

/// Calls visit(T()) with the T of Types whose DType it is; false without one.
template <class... Types, class Visit>
bool VisitType(DType type, const Visit& visit) {
  return ((type == kDTypeOf<Types> && (visit(Types()), true)) || ...);
}

/// The same of the integers of 8 bits or more.
template <class Visit>
bool VisitInteger(DType type, const Visit& visit) {
  return VisitType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                   uint32_t, uint64_t>(type, visit);
}

}  // namespace assay::inline v1
