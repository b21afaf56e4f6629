// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/stopping.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/timing/statistics.h"

namespace assay::timing {

std::string_view ToString(StopReason reason) {
  switch (reason) {
    case StopReason::kHalfWidth:
      return "half_width";
    case StopReason::kStabilised:
      return "stabilised";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kCount:
      return "count";
  }
  return "";
}

bool HalfWidth::Met(const Progress& progress) const {
  return progress.half_width && *progress.half_width <= target &&
         progress.elapsed_ns >= least_ns;
}

bool Stabilised::Met(const Progress& progress) {
  constexpr size_t kLooks = 8;
  constexpr int64_t kSamples = 64;
  if (!progress.spread) return false;
  const double now = *progress.spread;
  spreads.push_back(now);
  if (spreads.size() < kLooks || progress.samples < kSamples ||
      progress.elapsed_ns < least_ns) {
    return false;
  }
  double squares = 0;
  for (const double before : std::span(spreads).last(kLooks)) {
    squares += (before - now) * (before - now);
  }
  return std::sqrt(squares / kLooks) <= within * now;
}

Stopping::Stopping(std::vector<Criterion> criteria)
    : criteria_(std::move(criteria)) {}

std::optional<StopReason> Stopping::Ask(std::span<const double> samples,
                                        int64_t elapsed_ns) {
  Progress progress = {.samples = static_cast<int64_t>(samples.size()),
                       .elapsed_ns = elapsed_ns};
  if (samples.size() >= next_look_) {
    next_look_ = samples.size() + std::max<size_t>(samples.size() / 8, 1);
    const Summary now = Summarize(samples);
    if (now.median > 0) {
      progress.spread = (now.p75 - now.p25) / now.median;
      if (now.interval) {
        progress.half_width =
            (now.interval->high - now.interval->low) / 2 / now.median;
      }
    }
  }
  for (Criterion& criterion : criteria_) {
    const auto reason = std::visit(
        [&](auto& one) {
          return one.Met(progress) ? std::optional(one.kReason) : std::nullopt;
        },
        criterion);
    if (reason) return reason;
  }
  return std::nullopt;
}

std::optional<int64_t> Stopping::budget_ns() const {
  std::optional<int64_t> least;
  for (const Criterion& criterion : criteria_) {
    if (const auto* const budget = std::get_if<Budget>(&criterion)) {
      least = std::min(budget->ns, least.value_or(budget->ns));
    }
  }
  return least;
}

}  // namespace assay::timing
