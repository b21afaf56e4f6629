// SPDX-License-Identifier: Apache-2.0
//
// Cause: the reasons for which two training runs may differ, and a finding that
// names one.
//
//   const Finding found =
//       Say(Cause::kGradient, 3, "a", "Conv", "the Conv of ...");
//   found.sentence;   // "at step 3 the Conv of ..."

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::bisect {

enum class Cause : uint8_t {
  kNone,
  kInitialWeights,
  kDataOrder,
  kForward,
  kLossReduction,
  kGradient,
  kUpdateRule,
  kConvention,
  kSchedule,
  kState,
  kAccumulation,
  kRunningStatistics,
};

/// "initial weights", "data order", "forward", "loss reduction", "gradient",
/// "update rule", "convention", "schedule", "state", "accumulation",
/// "running statistics", "none".
std::string_view ToString(Cause cause);

struct Finding {
  Cause cause = Cause::kNone;
  int64_t step = 0;   // 0: before the first
  std::string run;    // "a" or "b"; empty: neither is wrong by itself
  std::string where;  // a tensor, an operator, a setting
  std::string sentence;
};

/// Makes a finding whose sentence begins with its step, where it has one.
Finding Say(Cause cause, int64_t step, const std::string& run,
            std::string where, const std::string& what);

}  // namespace assay::bisect
