// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/exact_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "framework/core/text.h"
#include "framework/metric/element.h"

namespace assay::special {
namespace {

// The float16 nearest below in size; that it is the number itself is for the
// caller to see.
uint64_t Float16Bits(double number) {
  const uint64_t sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return 0x7E00;
  if (std::isinf(number)) return sign | 0x7C00;
  const double size = std::abs(number);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  if (exponent > 15) return sign | 0x7BFF;
  const auto units = static_cast<uint64_t>(std::ldexp(size, 10 - exponent));
  // The hidden bit of a normal number is one of the exponent.
  return sign | ((static_cast<uint64_t>(exponent + 14) << 10) + units);
}

bool Same(double a, double b) {
  return std::isnan(a)
             ? std::isnan(b)
             : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

uint64_t SmallFloatBits(DType type, double number) {
  for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
    if (Same(number, metric::DecodeFloat(type, bits))) return bits;
  }
  return 0;
}

uint64_t FloatBits(DType type, double number) {
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(number));
  switch (type) {
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(number);
    case DType::kFloat32:
      return single;
    case DType::kBFloat16:
      return single >> 16;
    case DType::kFloat16:
      return Float16Bits(number);
    default:
      return SmallFloatBits(type, number);
  }
}

bool IsInteger(DType type, long double number) {
  const int width = type == DType::kBool ? 1 : BitsOf(type);
  const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
  const long double low = is_signed ? -std::ldexp(1.0L, width - 1) : 0;
  const long double high = std::ldexp(1.0L, is_signed ? width - 1 : width);
  return number == std::trunc(number) && number >= low && number < high;
}

}  // namespace

uint64_t EncodeExactly(DType type, long double number) {
  if (!IsFloatingPoint(type) && IsInteger(type, number)) {
    return number < 0 ? static_cast<uint64_t>(static_cast<int64_t>(number))
                      : static_cast<uint64_t>(number);
  }
  const auto narrow = static_cast<double>(number);
  if (IsFloatingPoint(type) && (narrow == number || std::isnan(narrow))) {
    const uint64_t bits = FloatBits(type, narrow);
    if (Same(narrow, metric::DecodeFloat(type, bits))) return bits;
  }
  throw std::invalid_argument(StrCat(
      "found ", number, ", wanted a number that ", ToString(type), " has"));
}

Tensor Pack(DType type, const Shape& shape, std::span<const uint64_t> bits) {
  Tensor tensor = Tensor::Allocate(type, shape).value();
  const int width = BitsOf(type);
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    for (int k = 0; k < width;) {  // lowest bit first
      const int64_t at = i * width + k;
      const int count = std::min(width - k, 8 - static_cast<int>(at % 8));
      const uint64_t part =
          (bits[static_cast<size_t>(i)] >> k) & ((1ULL << count) - 1);
      bytes[at / 8] |= static_cast<uint8_t>(part << (at % 8));
      k += count;
    }
  }
  return tensor;
}

}  // namespace assay::special
