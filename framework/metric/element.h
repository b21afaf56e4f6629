// SPDX-License-Identifier: Apache-2.0
//
// Elements of a tensor as numbers: the bit pattern of an element of any width,
// and every float type of ONNX decoded to double, which holds them all exactly.
//
//   const uint64_t bits = ElementBits(DType::kFloat6E2M3, tensor.data(), 5);
//   const double value = DecodeFloat(DType::kFloat6E2M3, bits);
//
// Sources: IEEE 754-2019 for float16, 32 and 64; ONNX "Float stored in 8 bits"
// for the float8 types; the OCP Microscaling (MX) specification 1.0 for
// float8e8m0, float6 and float4.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/core/dtype.h"

namespace assay::metric {

/// The bits of element `index` of packed elements, lowest bit first, zero
/// extended. For types of 1 to 64 bits; `data` may be unaligned.
uint64_t ElementBits(DType type, const std::byte* data, int64_t index);

/// The exact value of a bit pattern of a float type; infinities and NaN as
/// such, and NaN for a type that is not a float type.
double DecodeFloat(DType type, uint64_t bits);

/// Numbers of `digits` binary digits behind the first, of which the smallest
/// normal one is 2^least.
struct FloatRange {
  int digits;
  int least;
  double greatest;
  /// True when conversions may give the greatest number or NaN for a number
  /// beyond: the types of 8 bits and fewer, by an attribute or always.
  bool saturates = true;
};

/// The range of a float type; that of double for other types.
FloatRange RangeOf(DType type);

/// The layout of a float type of at most 16 bits.
struct FloatFormat {
  /// The meaning of the largest exponent.
  enum class Top : uint8_t {
    kIeee,      // infinity, and NaN for a mantissa that is not zero
    kNanOnly,   // numbers, save the all-ones pattern, which is NaN
    kMinusNan,  // numbers; the pattern of minus zero is NaN
    kNumbers,   // numbers only
  };
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Top top;
};

/// 2^exponent, for a result that is a normal double.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// The value of a sign-magnitude pattern.
constexpr double DecodeSmallFloat(const FloatFormat& format, uint32_t bits) {
  constexpr uint64_t kNan = 0x7FF8000000000000;
  constexpr uint64_t kInfinity = 0x7FF0000000000000;
  using Top = FloatFormat::Top;
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  const uint32_t sign_bit = 1U << (width - 1);
  const uint32_t magnitude = bits & (sign_bit - 1);
  const uint32_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const bool negative = (bits & sign_bit) != 0;
  const bool top =
      format.top == Top::kIeee && exponent == (1 << format.exponent_bits) - 1;
  const bool not_a_number =
      (top && mantissa != 0) ||
      (format.top == Top::kNanOnly && magnitude == sign_bit - 1) ||
      (format.top == Top::kMinusNan && bits == sign_bit);
  uint64_t special = top ? kInfinity : 0;
  if (not_a_number) special = kNan;
  double value = std::bit_cast<double>(special);
  if (special == 0) {
    const int scale = exponent == 0 ? 1 : exponent;
    const uint32_t hidden = exponent == 0 ? 0U : 1U << format.mantissa_bits;
    value = static_cast<double>(mantissa | hidden) *
            PowerOfTwo(scale - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

/// float16 without a branch per binade: the bits are read as a float32 whose
/// exponent is 112 too low, and multiplied back, which is exact.
inline double DecodeFloat16(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7FFFU;
  const uint32_t sign = (bits & 0x8000U) << 16;
  const auto scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const uint32_t special = 0x7F800000U | (magnitude << 13);
  const uint32_t raw =
      magnitude >= 0x7C00U ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(raw | sign);
}

inline double DecodeBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Values of all patterns of a float type of at most 8 bits; null for others.
const std::array<double, 256>* SmallFloatTable(DType type);

/// Reads a T from memory that may be unaligned.
template <class T>
T LoadElement(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

}  // namespace assay::metric
