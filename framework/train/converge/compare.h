// SPDX-License-Identifier: Apache-2.0
//
// Compare: two ways to train, by how many samples each took to learn, over seeds.
//
//   ASSAY_ASSIGN_OR_RETURN(const Comparison found, Compare(reference, acme));
//   found.ratio;        // 1.31: acme takes 31 % more
//   found.is_apart();   // true: chance alone seldom does that
//   found.least;        // 1.18: ratios from here on are seen four times in five
//
// MLPerf holds a submission's epochs to those of a reference in one direction
// (mlcommons/training_policies, "RCPs"): it must not learn faster. Here both count,
// since a backend that learns slower is as suspicious, and so does what the number of
// seeds can show at all.

#pragma once

#include <cstddef>
#include <span>

#include "framework/core/status.h"

namespace assay::converge {

inline constexpr double kSignificance = 0.05;  // of both directions together
inline constexpr double kPower = 0.8;
inline constexpr size_t kLeastSeeds = 4, kMostSeeds = 12;

struct Comparison {
  double ratio = 1;          // of geometric means, the second over the first
  double low = 1, high = 1;  // the interval of ratios that are not ruled out
  double p = 1;              // of no difference
  /// The least ratio above 1 that so many seeds, spread as these are, show to be apart
  /// with a probability of kPower. 1 over it is the other direction's.
  double least = 1;

  bool is_apart() const { return p <= kSignificance; }
};

/// Of samples, each above 0, of kLeastSeeds to kMostSeeds seeds each; invalid argument
/// otherwise.
///
/// The test is exact: of all ways to deal the seeds to two groups, p is the share
/// whose means of logarithms are as far apart as these (R. A. Fisher, "The Design of
/// Experiments", 1935, section 21). The interval has the ratios which that test does
/// not reject. The power is that of two means of normal logarithms.
Result<Comparison> Compare(std::span<const double> first,
                           std::span<const double> second);

}  // namespace assay::converge
