// SPDX-License-Identifier: Apache-2.0
//
// Stopping: when there are enough samples. Criteria are values; the first one
// that is met, in their order, is the reason that is recorded.
//
//   Stopping stopping({HalfWidth{0.005}, Stabilised{}, Budget{2'000'000'000}});
//   std::optional<StopReason> reason;
//   while (!reason) {
//     samples.push_back(next_ns);
//     reason = stopping.Ask(samples, elapsed_ns);
//   }

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::timing {

enum class StopReason : uint8_t { kHalfWidth, kStabilised, kBudget, kCount };

/// "half_width", "stabilised", "budget" or "count", as in the table of times.
std::string_view ToString(StopReason reason);

/// The state of a sampling. Statistics are taken at looks only: at 10 samples,
/// and then whenever their number has grown by an eighth.
struct Progress {
  int64_t samples = 0;
  int64_t elapsed_ns = 0;
  /// At a look, over the median: half of its interval's width, and the distance
  /// of the quartiles. Nothing where they are not known.
  std::optional<double> half_width, spread;
};

/// The statistical criteria wait so long. Ten samples that follow each other
/// within microseconds agree, and say nothing of the machine's next tick.
inline constexpr int64_t kLeastNs = 100'000'000;

/// The median is known to this share of it. An interval that is looked at until
/// it is narrow is narrow too early now and then: in 4,000 drawn comparisons of
/// two that were the same, it missed in 6.9 % of cases, and in 3.6 % where the
/// number of blocks was fixed.
struct HalfWidth {
  static constexpr StopReason kReason = StopReason::kHalfWidth;
  double target = 0.005;
  int64_t least_ns = kLeastNs;

  bool Met(const Progress& progress) const;
};

/// The noise has been what it is for a while, so that more samples would not
/// find less of it: over the last 8 looks, from 64 samples on, the spread
/// differs from what it is now by `within` of it at most, in the root mean
/// square (nvbench's stdrel_criterion, which takes the standard deviation where
/// this takes the quartiles, so that no outlier undoes it).
struct Stabilised {
  static constexpr StopReason kReason = StopReason::kStabilised;
  double within = 0.05;
  int64_t least_ns = kLeastNs;
  std::vector<double> spreads = {};  // at the looks until now

  bool Met(const Progress& progress);
};

/// So much wall time is used up, warm-up included.
struct Budget {
  static constexpr StopReason kReason = StopReason::kBudget;
  int64_t ns = 0;

  bool Met(const Progress& progress) const { return progress.elapsed_ns >= ns; }
};

struct Count {
  static constexpr StopReason kReason = StopReason::kCount;
  int64_t samples = 0;

  bool Met(const Progress& progress) const {
    return progress.samples >= samples;
  }
};

using Criterion = std::variant<HalfWidth, Stabilised, Budget, Count>;

/// For one sampling: it remembers.
class Stopping {
 public:
  explicit Stopping(std::vector<Criterion> criteria);

  /// After each sample, with all of them and the time since the start of the
  /// sampling: the reason to stop, or nothing.
  std::optional<StopReason> Ask(std::span<const double> samples,
                                int64_t elapsed_ns);

  /// The least budget among the criteria; nothing where there is none.
  std::optional<int64_t> budget_ns() const;

 private:
  std::vector<Criterion> criteria_;
  size_t next_look_ = 10;
};

}  // namespace assay::timing
