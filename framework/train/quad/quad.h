// SPDX-License-Identifier: Apache-2.0
//
// Quad: numbers of 113 bits, in which formulas of optimizers are computed to
// judge others; with the two functions that they need beside + - * /. The
// compiler has the type (IEEE 754 binary128); no library of it is used.
//
//   const Quad length = Root(Quad(3) * 3 + Quad(4) * 4);  // 5
//   const auto left = static_cast<double>(1 - Power(Quad(0.5), 3));  // 0.875

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::quad {

__extension__ typedef __float128 Quad;

using QuadTensor = std::vector<Quad>;

/// The square root, off by less than a unit in the last place; NaN below 0.
/// Newton's iteration r = (r + a / r) / 2 from the root in double, which
/// doubles the right digits each time: 53, 106, 113. Powers of 4 bring `a` into
/// the range of double, exactly.
inline Quad Root(Quad a) {
  constexpr double kFar = 0x1p1000;
  const Quad infinity = std::numeric_limits<double>::infinity();
  if (a == 0 || a == infinity) return a;
  if (!(a > 0)) return std::numeric_limits<double>::quiet_NaN();
  Quad unscaled = 1;
  for (; a > kFar; a /= kFar) unscaled *= 0x1p500;
  for (; a < 1 / kFar; a *= kFar) unscaled /= 0x1p500;
  Quad r = std::sqrt(static_cast<double>(a));
  for (int i = 0; i < 3; ++i) r = (r + a / r) / 2;
  return r * unscaled;
}

/// base^exponent by repeated squaring, for an exponent of 0 or more.
inline Quad Power(Quad base, int64_t exponent) {
  Quad power = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) power *= base;
  }
  return power;
}

/// The sum of the squares of all elements.
inline Quad SumOfSquares(const QuadTensor& tensor) {
  Quad sum = 0;
  for (const Quad element : tensor) sum += element * element;
  return sum;
}

}  // namespace assay::quad
