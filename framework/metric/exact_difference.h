// SPDX-License-Identifier: Apache-2.0
//
// CompareExact: how far a tensor is from numbers that are known better than its
// element type can say, in fractions of a unit in the last place.
//
//   const ExactDifference d = CompareExact(y, {value, tail, bound}, tolerance);
//   d.ulp->max;                  // 0.5 at most where all is rounded correctly
//   d.greatest_bound_ulp;        // the error that the exact numbers may have
//
// The unit is that of the exact number x: 2^(e - p + 1) for 2^e <= |x| <
// 2^(e + 1) and p digits, not below the smallest subnormal (J.-M. Muller, "On
// the definition of ulp(x)", and the Handbook of Floating-Point Arithmetic,
// 2.3.2). So it is defined at zero and in the subnormals; beyond the largest
// number an element has to be what x rounds to.

#pragma once

#include <optional>
#include <span>

#include "framework/core/dtype.h"
#include "framework/core/tensor.h"
#include "framework/metric/difference.h"

namespace assay::metric {

/// value + tail, off by at most bound. An empty tail or bound is of zeros;
/// else all have one element for each of the tensor's.
struct ExactNumbers {
  std::span<const double> value, tail, bound;
  /// The error that one rounding of unit size in every step may cause in each
  /// element; empty: not known.
  std::span<const double> units;
};

/// The parts of a Difference have their meaning, with these changes: limits are
/// computed in double; NaN and infinity mismatches are against what the exact
/// number rounds to, and what is beyond a type of 8 bits and fewer may
/// saturate, be NaN or infinity, as NaN may be anything where there is none;
/// the quantiles are of fractional distances; share_zero is that of the
/// correctly rounded elements, either neighbour being right where the bound
/// leaves both open; worst_index is the first element with the greatest
/// distance in ULP.
struct ExactDifference : Difference {
  /// Over the finite elements; absent when there are none.
  std::optional<double> greatest_bound_ulp;
  /// The greatest error over units times the type's unit roundoff; elements of
  /// unit 0 are left out. Absent where units are.
  std::optional<double> greatest_unit_error;
};

/// `got` must be in CPU memory and of a real float type, with as many elements
/// as there are numbers.
ExactDifference CompareExact(const Tensor& got, const ExactNumbers& want,
                             Tolerance tolerance);

/// The unit in the last place of a float type at a finite number.
double UlpAt(DType type, double x);

/// value + tail rounded to the nearest number of a float type, ties to even.
/// Beyond the largest one: infinity, also for a type that has none.
double RoundTo(DType type, double value, double tail);

}  // namespace assay::metric
