// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/float_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay::reference {
namespace {

using enum Specials;

constexpr std::array<FloatFormat, 9> kFormats = {{
    {DType::kFloat16, 5, 10, 15, kIeee},
    {DType::kBFloat16, 8, 7, 127, kIeee},
    {DType::kFloat8E4M3FN, 4, 3, 7, kNanOnly},
    {DType::kFloat8E4M3FNUZ, 4, 3, 8, kNanAsNegativeZero},
    {DType::kFloat8E5M2, 5, 2, 15, kIeee},
    {DType::kFloat8E5M2FNUZ, 5, 2, 16, kNanAsNegativeZero},
    {DType::kFloat4E2M1, 2, 1, 1, kNone},
    {DType::kFloat6E2M3, 2, 3, 1, kNone},
    {DType::kFloat6E3M2, 3, 2, 3, kNone},
}};

}  // namespace

const FloatFormat* FindFloatFormat(DType type) {
  const auto* found = std::find_if(
      kFormats.begin(), kFormats.end(),
      [type](const FloatFormat& format) { return format.type == type; });
  return found == kFormats.end() ? nullptr : found;
}

uint32_t FloatFormat::LargestCode() const {
  const uint32_t all_ones = SignBit() - 1;
  switch (specials) {
    case kIeee:  // below the first code of the highest exponent
      return (all_ones >> mantissa_bits << mantissa_bits) - 1;
    case kNanOnly:
      return all_ones - 1;
    case kNanAsNegativeZero:
    case kNone:
      break;
  }
  return all_ones;
}

uint32_t FloatFormat::NanCode(uint32_t sign) const {
  const uint32_t all_ones = SignBit() - 1;
  switch (specials) {
    case kIeee:  // the quiet bit
      return sign | (all_ones >> mantissa_bits << mantissa_bits) |
             (1U << (mantissa_bits - 1));
    case kNanOnly:
      return sign | all_ones;
    case kNanAsNegativeZero:
      return SignBit();
    case kNone:
      break;
  }
  return LargestCode();
}

double FloatFormat::DecodeMagnitude(uint32_t code) const {
  const auto exponent = static_cast<int>(code >> mantissa_bits);
  const uint32_t hidden = exponent == 0 ? 0U : 1U << mantissa_bits;
  const uint32_t fraction = code & ((1U << mantissa_bits) - 1);
  return std::ldexp(static_cast<double>(hidden | fraction),
                    std::max(exponent, 1) - bias - mantissa_bits);
}

double FloatFormat::Largest() const { return DecodeMagnitude(LargestCode()); }

double FloatFormat::Decode(uint32_t code) const {
  code &= 2 * SignBit() - 1;
  const uint32_t magnitude = code & (SignBit() - 1);
  const double sign = code == magnitude ? 1.0 : -1.0;
  if (specials == kNanAsNegativeZero && code == SignBit()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (magnitude <= LargestCode()) return sign * DecodeMagnitude(magnitude);
  const bool infinite = specials == kIeee && magnitude == LargestCode() + 1;
  return infinite
             ? sign * std::numeric_limits<double>::infinity()
             : std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
}

uint32_t FloatFormat::Encode(double value, Overflow overflow) const {
  const uint32_t sign = std::signbit(value) ? SignBit() : 0;
  if (std::isnan(value)) return NanCode(sign);
  const double magnitude = std::abs(value);
  if (std::isinf(value) || magnitude >= 2 * Largest()) {
    if (overflow == Overflow::kSaturate || specials == kNone) {
      return sign | LargestCode();
    }
    return specials == kIeee ? sign | (LargestCode() + 1) : NanCode(sign);
  }
  // In units of the last place of its binade, or of the subnormals.
  const int exponent =
      std::max(magnitude == 0 ? 1 - bias : std::ilogb(magnitude), 1 - bias);
  const auto units = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  // The hidden bit, or a carry out of the mantissa, raises the exponent field.
  const uint32_t code =
      (static_cast<uint32_t>(exponent + bias - 1) << mantissa_bits) + units;
  if (code > LargestCode()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Encode(std::copysign(infinity, value), overflow);
  }
  const bool has_no_sign = code == 0 && specials == kNanAsNegativeZero;
  return has_no_sign ? 0 : sign | code;
}

}  // namespace assay::reference
