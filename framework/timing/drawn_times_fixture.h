// SPDX-License-Identifier: Apache-2.0
//
// Times drawn from laws that are known, for tests of those who do not know.
//
//   core::Numbers numbers(7);
//   const std::vector<double> ns = SkewedTimes(100, 1.5, numbers);  // median 1

#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "framework/core/numbers.h"

namespace assay::timing {

/// A number of the standard normal law (G. Box and M. Muller, 1958).
inline double Normal(core::Numbers& numbers) {
  const double radius = std::sqrt(-2 * std::log(1 - numbers.Share()));
  return radius * std::cos(2 * std::numbers::pi * numbers.Share());
}

/// Independent, log-normal, with median 1.
inline std::vector<double> SkewedTimes(size_t n, double sigma,
                                       core::Numbers& numbers) {
  std::vector<double> times(n);
  for (double& time : times) time = std::exp(sigma * Normal(numbers));
  return times;
}

/// The same, and the logarithm of each has correlation `lag1` with the next.
inline std::vector<double> CorrelatedTimes(size_t n, double sigma, double lag1,
                                           core::Numbers& numbers) {
  std::vector<double> times(n);
  double noise = Normal(numbers);
  for (double& time : times) {
    time = std::exp(sigma * noise);
    noise = lag1 * noise + std::sqrt(1 - lag1 * lag1) * Normal(numbers);
  }
  return times;
}

}  // namespace assay::timing
