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
//   // timed 583, declined 39, too big by memory 0, too big by time 8,
//   // failed 0: 630

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "perf/problems/make_problem.h"

namespace assay::problems {

enum class Fate : uint8_t {
  kTimed,
  kDeclined,
  kTooMuchMemory,
  kTooMuchTime,
  kFailed  // its outputs or its times are wrong, or it ended early
};

/// "timed", "declined", "too big by memory", "too big by time", "failed"
std::string_view ToString(Fate fate);
/// None for another text.
std::optional<Fate> FateNamed(std::string_view text);

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
class Tally {
 public:
  void Add(Fate fate) { ++counts_.at(static_cast<size_t>(fate)); }
  int64_t operator[](Fate fate) const {
    return counts_.at(static_cast<size_t>(fate));
  }
  int64_t total() const;
  /// "timed 5, declined 1, too big by memory 0, too big by time 2, failed 0: 8"
  std::string ToString() const;

 private:
  std::array<int64_t, 5> counts_ = {};
};

}  // namespace assay::problems
