// SPDX-License-Identifier: Apache-2.0
//
// Scaling: the exponent k of time ~ size^k.
//
//   const auto scaling = ScalingOf(sizes, medians);  // k of a sort: about 1.1
//
// The exponent is the median of the slopes between all pairs of sizes, in
// logarithms (H. Theil, "A rank-invariant method of linear and polynomial
// regression analysis", 1950; P. Sen, 1968). Unlike least squares with an
// interval of Student's law, it asks for no law of what the fit leaves over,
// and one size that leaves a cache does not turn it.

#pragma once

#include <optional>
#include <span>

#include "framework/core/status.h"
#include "framework/timing/statistics.h"

namespace assay::scaling {

struct Scaling {
  double exponent = 0;
  /// Holds it in at least 95 % of cases, by the exact law of the number of
  /// inversions (M. Kendall, "A new measure of rank correlation", 1938): what
  /// the fit leaves over may be in any order. None below 5 sizes, which have
  /// too few orders.
  std::optional<timing::Interval> interval;
};

/// One time for each size, such as its median. Invalid argument for less than
/// two sizes, for one that is there twice, for numbers that are not above 0 and
/// finite, and where there are not as many times as sizes.
Result<Scaling> ScalingOf(std::span<const double> sizes,
                          std::span<const double> times);

}  // namespace assay::scaling
