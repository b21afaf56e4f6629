// SPDX-License-Identifier: Apache-2.0
//
// Rate: how much of something one or several threads do in a time, measured.
//
//   const auto rate = RateOf([&] { return Loop{8, add_eight}; },
//                            {.threads = 2, .budget_ns = 50'000'000});

#pragma once

#include <cstdint>
#include <functional>

#include "framework/core/status.h"
#include "framework/timing/clock.h"
#include "framework/timing/statistics.h"

namespace assay::roofs {

/// Work of one thread.
struct Loop {
  double units = 0;  // operations or bytes of a round
  std::function<void(int64_t rounds)> run;
};

/// In 1e9 units a second.
struct Rate {
  double median = 0;
  timing::Interval interval;  // of the median, by order statistics
  int64_t n_samples = 0;      // of the thread that has fewest
};

struct RateOptions {
  int64_t threads = 1;
  int64_t budget_ns = 0;  // of wall time, of all threads together
  timing::Clock clock = timing::SteadyNow;
};

/// Each thread makes a loop, and runs it at the same time as the others; rates
/// and ends of the intervals are sums over them. Samples take 0.2 ms or more.
/// Failed precondition where a thread has less than six samples, which tell no
/// interval.
Result<Rate> RateOf(const std::function<Loop()>& make,
                    const RateOptions& options);

}  // namespace assay::roofs
