// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/number.h"

#include <bit>
#include <cmath>

#include "framework/metric/exact_difference.h"

namespace assay::ranks {
namespace {

/// The bits of a number that float16 can represent, or of a NaN.
uint16_t Float16Of(double number) {
  constexpr int kBias = 15, kMantissa = 10;
  constexpr unsigned kInfinity = 0x7C00U, kNan = 0x7E00U;
  const unsigned sign = std::signbit(number) ? 0x8000U : 0U;
  const double size = std::fabs(number);
  unsigned bits = kInfinity;
  if (std::isnan(number)) {
    bits = kNan;
  } else if (size < 0x1p-14) {
    bits = static_cast<unsigned>(size * 0x1p24);
  } else if (!std::isinf(size)) {
    int exponent = 0;
    const double mantissa = 2 * std::frexp(size, &exponent) - 1;
    bits = (static_cast<unsigned>(exponent - 1 + kBias) << kMantissa) +
           static_cast<unsigned>(mantissa * (1 << kMantissa));
  }
  return static_cast<uint16_t>(sign | bits);
}

/// A bfloat16 is the upper half of a float.
uint16_t BFloat16Of(double number) {
  constexpr unsigned kQuiet = 0x40U;
  const auto bits = static_cast<uint16_t>(
      std::bit_cast<uint32_t>(static_cast<float>(number)) >> 16U);
  return std::isnan(number) ? static_cast<uint16_t>(bits | kQuiet) : bits;
}

}  // namespace

uint16_t ShortBits(DType type, double x) {
  const double number =
      std::isfinite(x) ? metric::RoundTo(type, x, /*tail=*/0) : x;
  return type == DType::kFloat16 ? Float16Of(number) : BFloat16Of(number);
}

}  // namespace assay::ranks
