// SPDX-License-Identifier: Apache-2.0
//
// Alarms: how often a comparison of times would say better or worse of two that
// are the same, by drawing again from comparisons that were recorded of a
// backend with itself.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto recorded, ReadRecorded(csv_text));
//   const Alarms alarms = AlarmsOf(recorded, {.margin = 0.01}, {});
//   Show(alarms.n_told, alarms.n_drawn);
//
// As many real comparisons as 1 in 1,000 takes would last for days. Those that
// are drawn have the noise, the disturbances and the biases of real ones.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/timing/comparison.h"

namespace assay::power {

/// The log-ratios of the groups of one comparison of two that are the same.
struct Recorded {
  std::string case_id;
  std::vector<double> log_ratios;
};

/// The columns test_id and log_ratios of a compare.csv, rows without log-ratios
/// left out. Data loss, with the line, for what does not read.
Result<std::vector<Recorded>> ReadRecorded(std::string_view csv);

struct Drawing {
  /// Signs of recorded groups by coins: exact where sides differ in nothing.
  /// Else groups with replacement, as they are: what makes a side faster for as
  /// long as its process lives then does so in what is drawn.
  bool signs = false;
  int64_t families = 1'000;  // of a comparison of each recorded case
  uint64_t seed = 1;
};

struct Alarms {
  int64_t n_drawn = 0;  // comparisons
  int64_t n_apart = 0;  // looked apart in the first set
  int64_t n_told = 0;   // were better or worse by a second one
};

/// The first set is one of the recorded comparisons of a case, drawn, and the
/// second another, where there is one. The family is corrected as a whole.
Alarms AlarmsOf(std::span<const Recorded> recorded,
                const timing::Thresholds& thresholds, const Drawing& drawing);

}  // namespace assay::power
