// SPDX-License-Identifier: Apache-2.0
//
// The element types that ranks combine, as types of C++: float16 and bfloat16
// among them, which C++20 lacks.
//
//   const Float16 half(0.5);
//   VisitNumber(DType::kFloat16, [&]<class T>(const T&) { /* T: Float16 */ });

#pragma once

#include <cstdint>

#include "framework/core/dtype.h"
#include "framework/metric/element.h"

namespace assay::ranks {

/// The bits of a float16 or bfloat16: `x` rounded, ties to even, to infinity
/// beyond the largest number.
uint16_t ShortBits(DType type, double x);

/// A float16 or bfloat16. It has the 16 bits of one.
template <DType kType>
class ShortFloat {
 public:
  ShortFloat() = default;
  explicit ShortFloat(double x) : bits_(ShortBits(kType, x)) {}

  operator double() const {
    return kType == DType::kFloat16 ? metric::DecodeFloat16(bits_)
                                    : metric::DecodeBFloat16(bits_);
  }

 private:
  uint16_t bits_ = 0;
};

using Float16 = ShortFloat<DType::kFloat16>;
using BFloat16 = ShortFloat<DType::kBFloat16>;

/// Calls visit(T()) with the type of C++ of a float of 16 bits or more, or of
/// an integer of 8 bits or more; false for another type.
template <class Visit>
bool VisitNumber(DType type, const Visit& visit) {
  if (type == DType::kFloat16) return visit(Float16()), true;
  if (type == DType::kBFloat16) return visit(BFloat16()), true;
  return VisitType<float, double>(type, visit) || VisitInteger(type, visit);
}

}  // namespace assay::ranks
