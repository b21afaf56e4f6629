// SPDX-License-Identifier: Apache-2.0

#include "perf/scaling/scaling.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::scaling {
namespace {

/// How many of the orders of n numbers have 0, 1, 2, ... inversions, as shares
/// of all: the n-th number may be passed by none of those before it, by one, or
/// by all.
std::vector<double> Inversions(size_t n) {
  std::vector<double> shares = {1};
  for (size_t k = 2; k <= n; ++k) {
    std::vector<double> next(shares.size() + k - 1);
    for (size_t i = 0; i < shares.size(); ++i) {
      for (size_t passed = 0; passed < k; ++passed) {
        next[i + passed] += shares[i] / static_cast<double>(k);
      }
    }
    shares = std::move(next);
  }
  return shares;
}

bool IsPositive(double x) { return x > 0 && std::isfinite(x); }

}  // namespace

Result<Scaling> ScalingOf(std::span<const double> sizes,
                          std::span<const double> times) {
  if (sizes.size() != times.size() || sizes.size() < 2) {
    return InvalidArgument("found ", sizes.size(), " sizes and ", times.size(),
                           " times, wanted as many, and 2 at least");
  }
  std::vector<double> slopes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!IsPositive(sizes[i]) || !IsPositive(times[i])) {
      return InvalidArgument("found size ", sizes[i], " and time ", times[i],
                             ", wanted both above 0");
    }
    for (size_t j = 0; j < i; ++j) {
      if (sizes[i] == sizes[j]) {
        return InvalidArgument("found size ", sizes[i], " twice");
      }
      slopes.push_back(std::log(times[i] / times[j]) /
                       std::log(sizes[i] / sizes[j]));
    }
  }
  std::ranges::sort(slopes);
  return Scaling{timing::Percentile(slopes, 0.5),
                 timing::CentralInterval(slopes, Inversions(sizes.size()))};
}

}  // namespace assay::scaling
