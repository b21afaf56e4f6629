// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

namespace assay::timing {

int64_t SteadyNow() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ClockCost CostOf(const Clock& clock) {
  constexpr int64_t kReads = 100;
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::array<double, 101> rounds = {};
  int64_t least_step = kNone;
  for (double& round_ns : rounds) {
    const int64_t start = clock();
    int64_t last = start;
    for (int64_t read = 0; read < kReads; ++read) {
      const int64_t now = clock();
      if (now > last) least_step = std::min(least_step, now - last);
      last = now;
    }
    round_ns = static_cast<double>(last - start) / kReads;
  }
  const auto middle = rounds.begin() + rounds.size() / 2;
  std::nth_element(rounds.begin(), middle, rounds.end());
  return {*middle, least_step == kNone ? 0 : least_step};
}

double LeastSampleNs(const ClockCost& cost) {
  return kLeastSample *
         std::max(cost.read_ns, static_cast<double>(cost.resolution_ns));
}

}  // namespace assay::timing
