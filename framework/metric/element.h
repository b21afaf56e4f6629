// SPDX-License-Identifier: Apache-2.0
//
// Elements of a tensor as numbers: the bit pattern of an element of any width,
// every float type of ONNX decoded to double, which holds them all exactly, and
// units in the last place, which are the representable numbers of a type that
// lie between two of its values.
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
#include <memory>

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

/// The place of a finite value of a sign-magnitude type among all others. Minus
/// zero and zero both have the place 0, so that distances across zero count as
/// they should (a difference of patterns gives 2^31 between the two zeros).
/// `width` is its bits, 64 at most. Source: B. Dawson, "Comparing floating
/// point numbers", the ordered integer form.
constexpr int64_t OrderedKey(uint64_t bits, int width) {
  const uint64_t sign_bit = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign_bit - 1));
  return (bits & sign_bit) != 0 ? -magnitude : magnitude;
}

/// The same for any float type. float8e8m0 has no sign.
int64_t OrderedKey(DType type, uint64_t bits);

/// |a - b| of two keys, which always fits 64 unsigned bits.
constexpr uint64_t KeyDistance(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

/// Steps between two finite values of a float type, given by their patterns.
uint64_t UlpDistance(DType type, uint64_t a, uint64_t b);

/// A summary of the distances of an output. Quantiles are nearest rank: the
/// smallest distance that at least that share of the elements does not exceed.
struct UlpSummary {
  double max = 0;
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double mean_signed = 0;  // of got - want: the bias
  /// Share of distance zero: where the expected value is the correctly rounded
  /// one, the share that is correctly rounded.
  double share_zero = 0;
};

/// Gathers the distances of at most `capacity` pairs. Small ones, which are
/// most, are only counted.
class UlpTally {
 public:
  explicit UlpTally(int64_t capacity)
      : large_(std::make_unique_for_overwrite<uint64_t[]>(
            static_cast<size_t>(capacity))) {}

  void Add(int64_t got_key, int64_t want_key) {
    const uint64_t distance = KeyDistance(got_key, want_key);
    ++count_;
    if (distance < kCounted) [[likely]] {
      ++small_[distance];
    } else {
      large_[n_large_++] = distance;
    }
    const auto step = static_cast<double>(distance);
    signed_sum_ += got_key < want_key ? -step : step;
  }

  int64_t count() const { return count_; }

  /// Needs at least one pair. Selects, does not sort: linear in the pairs.
  UlpSummary Summarize();

 private:
  static constexpr uint64_t kCounted = 256;

  /// The distance of 1-based rank `rank`. Ranks must not fall from call to
  /// call: each selection goes on in what the last left above it.
  double AtRank(int64_t rank);

  std::array<int64_t, kCounted> small_ = {};
  std::unique_ptr<uint64_t[]> large_;
  size_t n_large_ = 0;
  size_t selected_ = 0;  // of large_: those before are no larger than any after
  int64_t count_ = 0;
  double signed_sum_ = 0;
};

}  // namespace assay::metric
