// SPDX-License-Identifier: Apache-2.0
//
// Compare: compares two ways to train by the samples that each took to learn,
// over several seeds.
//
//   ASSAY_ASSIGN_OR_RETURN(const Comparison found, Compare(reference, acme));
//   found.ratio;        // 1.31: acme takes 31 % more
//   found.is_apart();   // true: chance alone seldom does that
//   found.least;        // 1.18: such a ratio is seen four times in five
//
// MLPerf compares a submission's epochs with those of a reference in one
// direction (mlcommons/training_policies, "RCPs"): it must not learn faster.
// Here both directions count, since a backend that learns slower is as
// suspicious. `least` says which ratios this number of seeds can show at all.

#pragma once

#include <cstddef>
#include <span>

#include "framework/core/status.h"

namespace assay::converge {

inline constexpr double kSignificance = 0.05;  // in both directions together
inline constexpr double kPower = 0.8;
inline constexpr size_t kLeastSeeds = 4, kMostSeeds = 12;

struct Comparison {
  double ratio = 1;          // of geometric means, the second over the first
  double low = 1, high = 1;  // the interval of ratios that are not ruled out
  double p = 1;              // the share that is as far apart by chance
  /// The least ratio above 1 that this number of seeds, with this spread, shows
  /// with a probability of kPower; 1 / least in the other direction.
  double least = 1;

  bool is_apart() const { return p <= kSignificance; }
};

/// Takes the samples of each seed. Invalid argument unless both groups have
/// kLeastSeeds to kMostSeeds seeds and all numbers are above 0 and finite.
///
/// The test is exact: p is the share of all ways to deal the seeds to two
/// groups whose means of logarithms are at least as far apart as these (R. A.
/// Fisher, "The Design of Experiments", 1935, section 21). The interval has the
/// ratios that this test does not reject. The power assumes that logarithms are
/// normal.
Result<Comparison> Compare(std::span<const double> first,
                           std::span<const double> second);

}  // namespace assay::converge
