// SPDX-License-Identifier: Apache-2.0
//
// Fate: what becomes of a problem on a machine, so that each of a set is
// accounted for.
//
//   Tally tally;
//   for (const Problem& p : problems) {
//     ASSAY_ASSIGN_OR_RETURN(const Fate fate, FateOf(NeedsOf(p), limits));
//     tally.Add(fate);
//   }
//   // timed 583, declined 39, too big by memory 0, too big by time 8: 630

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "perf/problems/make_problem.h"

namespace assay::problems {

enum class Fate : uint8_t { kTimed, kDeclined, kTooMuchMemory, kTooMuchTime };

/// "timed", "declined", "too big by memory", "too big by time"
std::string_view ToString(Fate fate);

/// The most that a problem may take, and the most that the machine does in a
/// second.
struct Limits {
  double bytes = 0;    // of memory
  double seconds = 0;  // of one run
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

/// No run takes less, whatever computes it: operations and bytes at the
/// machine's limits, whichever take longer.
double LeastSeconds(const work::Work& work, const Limits& limits);

/// Declined where the needs fail as unsupported; of the others those that fit
/// the limits are to be timed. Any other failure is that of the problem's file,
/// which is passed on.
Result<Fate> FateOf(const Result<Needs>& needs, const Limits& limits);

/// How many problems have which fate.
struct Tally {
  int64_t timed = 0;
  int64_t declined = 0;
  int64_t too_much_memory = 0;
  int64_t too_much_time = 0;

  void Add(Fate fate);
  int64_t total() const;
  /// "timed 5, declined 1, too big by memory 0, too big by time 2: 8"
  std::string ToString() const;
};

}  // namespace assay::problems
