// SPDX-License-Identifier: Apache-2.0
//
// How far a gradient may be from the exact one, from the computation alone.
//
//   const double limit = LimitOf(units, hard, UnitRoundoff(type));
//
// A sum of r roundings of random signs grows as sqrt(r) (Higham and Mary, A New
// Approach to Probabilistic Rounding Error Analysis, 2019); 4 of its standard
// deviations are exceeded once in 16,000 elements of the worst kind, and 2 units
// are for the functions of a library and the last rounding.

#pragma once

#include <algorithm>
#include <cmath>

#include "framework/core/dtype.h"
#include "framework/metric/element.h"

namespace assay::gradcheck {

/// Half a unit in the last place of 1.
inline double UnitRoundoff(DType type) {
  return std::ldexp(1, -1 - metric::RangeOf(type).digits);
}

/// The depth of rounding. `units`: what one rounding of each product can change,
/// in roundoffs, and `hard` the same of every operation.
inline double DepthOf(double units, double hard) {
  return units > 0 ? std::max(1.0, hard / units) : 1;
}

inline double LimitOf(double units, double hard, double roundoff) {
  return (4 * std::sqrt(DepthOf(units, hard)) + 2) * roundoff * units;
}

/// A bound of the exact gradient beyond this share of the limit says nothing.
inline constexpr double kEnoughOfLimit = 1.0 / 8;

}  // namespace assay::gradcheck
