// SPDX-License-Identifier: Apache-2.0
//
// For tests of products of matrices: numbers of many kinds, drawn by a seed,
// that are to be the same in every bit, and shapes whose edges fall everywhere
// in a tile.
//
//   RandomDoubles random(1);
//   const double x = random.About(-458);
//   for (int64_t size = 1; size <= 33; ++size) Test(ShapeOf(size));

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {

/// The same bits, or both no number.
inline bool IsSame(double x, double y) {
  return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Doubles of both signs, but for a fraction. A test has kinds of its own,
/// which it makes of them.
class RandomDoubles {
 public:
  explicit RandomDoubles(uint64_t seed) : engine_(seed) {}

  int64_t Below(int64_t end) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(end));
  }
  /// Any of the usual kinds; one draw in 32 is the rare kind.
  template <class Kind>
  Kind Of(const std::vector<Kind>& usual, Kind rare) {
    const auto at =
        static_cast<size_t>(Below(static_cast<int64_t>(usual.size())));
    return Below(32) == 0 ? rare : usual[at];
  }

  double Sign() { return Below(2) == 0 ? 1 : -1; }
  /// In [0, 1), all bits of a double.
  double Fraction() {
    return std::ldexp(static_cast<double>(engine_() >> 11), -53);
  }
  /// In (-1, 1), all bits of a double.
  double Plain() { return Sign() * Fraction(); }
  /// In [-1, 1], the bits of a float.
  double Float() { return static_cast<float>(Plain()); }
  /// -8 to 8.
  double Integer() { return Sign() * static_cast<double>(Below(9)); }
  double Zero() { return Sign() * 0.0; }
  /// 10^-decades to 10^decades.
  double Wide(double decades) {
    return Sign() * std::pow(10, decades * (2 * Fraction() - 1));
  }
  /// From 2^exponent to 2^(exponent + 16).
  double About(int exponent) {
    const auto more = static_cast<int>(Below(16));
    return Sign() * std::ldexp(1 + Fraction(), exponent + more);
  }
  double Subnormal() { return std::ldexp(Plain(), -1022); }

 private:
  std::mt19937_64 engine_;
};

/// The shape of a product: rows x inner by inner x columns.
struct ProductShape {
  int64_t rows, inner, columns;
};

/// For sizes of 1 to 33: shapes of up to 34, narrow ones and wide ones.
inline ProductShape ShapeOf(int64_t size) {
  return {size, size * 7 % 34 + 1, size * 13 % 34 + 1};
}

}  // namespace assay::reference
