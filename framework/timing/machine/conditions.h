// SPDX-License-Identifier: Apache-2.0
//
// Conditions: who else uses the machine, and whether it is quiet enough to time
// anything.
//
//   const Conditions before = ConditionsOf("/");
//   const int64_t start = timing::SteadyNow();
//   const double loss = SpinLoss(timing::SteadyNow);
//   const Disturbance disturbance = DisturbanceOf(
//       before, ConditionsOf("/"), timing::SteadyNow() - start);
//   const std::string noise = NoiseOf(disturbance, loss, {});
//   if (!noise.empty()) message = StrCat("the machine is noisy: ", noise);
//
// A noisy machine makes no time wrong and no run red: it is said, and a
// comparison is unsure. A number that the machine does not tell is nothing, and
// makes no noise.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "framework/timing/clock.h"

namespace assay::machine {

/// Ticks of 10 ms in which the hypervisor ran something else while a processor
/// had work: the eighth number of the line "cpu" of /proc/stat (proc(5)).
std::optional<int64_t> StealTicks(std::string_view stat);

/// Microseconds in which some task waited for a processor: "total" of the line
/// "some" of /proc/pressure/cpu (Linux, Documentation/accounting/psi.rst).
std::optional<int64_t> StalledMicroseconds(std::string_view pressure);

/// Memory that a program may still ask for without others being swapped out:
/// MemAvailable of /proc/meminfo (proc(5)).
std::optional<int64_t> AvailableBytes(std::string_view meminfo);

struct Conditions {
  std::optional<int64_t> steal_ticks, stalled_us;  // since the machine started
  std::optional<double> load1;    // tasks that ran or waited, over a minute
  std::optional<double> celsius;  // of the hottest zone
};

/// Those of the machine whose proc and sys lie below `root`.
Conditions ConditionsOf(const std::filesystem::path& root);

/// The disturbance of an interval: two columns of the table of times.
struct Disturbance {
  int64_t elapsed_ns = 0;
  std::optional<int64_t> steal_ticks;
  std::optional<double> psi_cpu_some_pct;  // of the interval's time
};

/// Nothing for a number that either end lacks. `elapsed_ns` is above 0.
Disturbance DisturbanceOf(const Conditions& before, const Conditions& after,
                          int64_t elapsed_ns);

/// How much longer than the fastest of them, on the mean, 200 loops take that
/// do the same in registers: 0.03 is 3 %. Each takes some 40 microseconds where
/// nothing else runs; 200 before them are not counted, for processors that
/// begin slowly.
double SpinLoss(const timing::Clock& clock);

/// Beyond these a machine is noisy. They are a choice.
struct QuietLimits {
  double spin_loss = 0.05;
  double steal_pct = 1;  // of one processor
  double psi_cpu_some_pct = 5;
};

/// "loops lose 12 %, steal 3.5 %": what is beyond its limit; empty when
/// nothing is.
std::string NoiseOf(const Disturbance& disturbance, double spin_loss,
                    const QuietLimits& limits);

}  // namespace assay::machine
