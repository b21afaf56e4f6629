// SPDX-License-Identifier: Apache-2.0
//
// A clock for tests: it goes on by what a read of it costs, and when told to.
//
//   MadeUpClock made_up = {.read_ns = 25};
//   const Sampler sampler(made_up.AsClock());
//   made_up.now_ns += 1e6;

#pragma once

#include <cmath>
#include <cstdint>

#include "framework/timing/clock.h"

namespace assay::timing {

struct MadeUpClock {
  double now_ns = 0;
  double read_ns = 20;
  double step_ns = 1;  // it shows multiples of it

  /// Must not outlive this one.
  Clock AsClock() {
    return [this] {
      now_ns += read_ns;
      return static_cast<int64_t>(std::floor(now_ns / step_ns) * step_ns);
    };
  }
};

}  // namespace assay::timing
