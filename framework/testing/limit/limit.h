// SPDX-License-Identifier: Apache-2.0
//
// How far a number may be from the exact one, from the computation alone.
//
//   const double limit = LimitOf(units, hard, UnitRoundoff(type));
//   const double narrower = LimitOf(units, hard, UnitRoundoff(DType::kFloat16),
//                                   UnitRoundoff(DType::kFloat32));
//
// A sum of r roundings of random signs grows as sqrt(r) (Higham and Mary, A New
// Approach to Probabilistic Rounding Error Analysis, 2019); 4 of its standard
// deviations are exceeded once in 16,000 elements of the worst kind, and 2
// units are for the functions of a library and the last rounding. Where sums
// are kept in a type of more digits, their roundings are that type's, and the 2
// units remain.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "framework/core/dtype.h"
#include "framework/core/tensor.h"
#include "framework/metric/element.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::limit {

/// Half a unit in the last place of 1.
inline double UnitRoundoff(DType type) {
  return std::ldexp(1, -1 - metric::RangeOf(type).digits);
}

/// The depth of rounding. `units`: what one rounding of each product can
/// change, in roundoffs, and `hard` the same of every operation.
inline double DepthOf(double units, double hard) {
  return units > 0 ? std::max(1.0, hard / units) : 1;
}

/// `roundoff` is that of the case's type, `of_sums` that of the accumulator.
inline double LimitOf(double units, double hard, double roundoff,
                      double of_sums) {
  return (4 * std::sqrt(DepthOf(units, hard)) * of_sums + 2 * roundoff) * units;
}

inline double LimitOf(double units, double hard, double roundoff) {
  return LimitOf(units, hard, roundoff, roundoff);
}

/// A bound of the exact number beyond this share of the limit says nothing.
inline constexpr double kEnoughOfLimit = 1.0 / 8;

/// The tolerance of an output, beside its limit in the oracle's units.
struct OutputLimit {
  DType type = DType::kFloat32;
  double rtol = 0;
  double atol = 0;
};

/// The fault of an output in words; empty where there is none. An element may
/// be off by the tolerance or by its limit in units (limit.h), whichever is
/// more, and by the oracle's bound. `answer` has its bound and units in
/// float64; what the oracle does not know is passed over.
std::string FaultOf(const Tensor& got, const measure::ExactAnswer& answer,
                    const OutputLimit& limit);

/// The share of an output's size that is left open by the limits of FaultOf:
/// their Euclidean norm by that of the exact numbers, over what the oracle
/// knows. An error of every element by a greater share is seen. 0 for an output
/// without elements, infinity where none is known.
double OpenShare(const measure::ExactAnswer& answer, const OutputLimit& limit);

/// The share of an output's size that it is off by at most: the norm of its
/// distances to the exact numbers, with the oracle's bounds, as OpenShare. The
/// output has the answer's shape.
double ErrorShare(const Tensor& got, const measure::ExactAnswer& answer);

/// "element 9 is -1.5, wanted 1.5 within 1e-06", in so many digits that a
/// number of the type is told from its neighbours.
std::string InWords(int64_t index, double got, double want, double limit,
                    DType type);
/// "element 0 is nan, wanted one in [-1.24, 1.24] within 1e-06", where each
/// number from the first to the second is right.
std::string InWords(int64_t index, double got,
                    const std::pair<double, double>& right, double limit,
                    DType type);

}  // namespace assay::limit
