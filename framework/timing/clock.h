// SPDX-License-Identifier: Apache-2.0
//
// Clock: where times come from, and the cost of asking. A clock is anything
// that can be called for nanoseconds, so that tests give a made-up one.
//
//   const ClockCost cost = CostOf(SteadyNow);
//   const double least_ns = LeastSampleNs(cost);  // some 5,000

#pragma once

#include <cstdint>
#include <functional>

namespace assay::timing {

/// Nanoseconds since some moment; they never go back.
using Clock = std::function<int64_t()>;

/// CLOCK_MONOTONIC.
int64_t SteadyNow();

struct ClockCost {
  double read_ns = 0;         // the median over rounds of back-to-back reads
  int64_t resolution_ns = 0;  // the least step seen; 0: the clock stands still
};

/// Measured by some 10,000 reads.
ClockCost CostOf(const Clock& clock);

/// A sample lasts this many times the cost of the clock at least, so that two
/// reads change it by 1 % at most, and a median of many by less.
inline constexpr double kLeastSample = 200;

/// The shortest sample that such a clock can time: kLeastSample times the cost
/// of a read or the resolution, whichever is more.
double LeastSampleNs(const ClockCost& cost);

}  // namespace assay::timing
