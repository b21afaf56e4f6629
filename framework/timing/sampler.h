// SPDX-License-Identifier: Apache-2.0
//
// Sampler: how long a call takes, again and again, until there are enough
// samples (stopping.h).
//
//   const Sampler sampler;
//   const auto samples = sampler.Take(
//       [&](int64_t calls) {
//         for (; calls > 0; --calls) sum += x;
//         return OkStatus();
//       },
//       Stopping({HalfWidth{0.005}, Budget{2'000'000'000}}));
//   if (samples.ok()) Show(Summarize(samples->ns));
//
// A sample is a number of calls in a row that lasts long enough for the clock
// (LeastSampleNs); the number is doubled until it does. Warm-up is the same
// path: windows of 5 samples, until the medians of two that follow each other
// agree within 1 %, or a tenth of the budget is used.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "framework/core/status.h"
#include "framework/timing/clock.h"
#include "framework/timing/stopping.h"

namespace assay::timing {

/// Does what is timed so many times in a row.
using Subject = std::function<Status(int64_t calls)>;

/// Does so many calls in a row, and says how many nanoseconds they took: for
/// what is timed in another process.
using Source = std::function<Result<double>(int64_t calls)>;

struct SamplingOptions {
  /// Each sample is one call, from the first on, without warm-up: for loading,
  /// first calls and cold caches.
  bool single = false;
  /// A sample lasts so long, also where the clock permits less: longer samples
  /// are fewer. Not for single calls.
  double least_sample_ns = 0;
  /// Runs before each sample and is not timed, if it is there: changes inputs
  /// or empties caches.
  std::function<Status()> before;
};

struct Samples {
  std::vector<double> ns;    // of a call, in the order of time
  int64_t inner_iters = 1;   // calls a sample
  int64_t warmup_iters = 0;  // calls before the first sample
  bool warm = false;         // two windows agreed
  StopReason stop_reason = StopReason::kBudget;
};

/// Allocates nothing between the two reads of the clock. May be used by several
/// threads at once where its clock may.
class Sampler {
 public:
  /// Measures the clock.
  explicit Sampler(Clock clock = SteadyNow);

  /// At least one sample. Invalid argument for a clock that stands still, or
  /// criteria without a Budget, which might never be met; a failure of the
  /// subject, or of `before`, is returned as it is.
  Result<Samples> Take(const Subject& subject, Stopping stopping,
                       const SamplingOptions& options = {}) const;

  /// The same of times that somebody else takes; the clock tells the budget.
  Result<Samples> TakeFrom(const Source& source, Stopping stopping,
                           const SamplingOptions& options = {}) const;

  const ClockCost& cost() const { return cost_; }

 private:
  Clock clock_;
  ClockCost cost_;
};

}  // namespace assay::timing
