// SPDX-License-Identifier: Apache-2.0
//
// The progress of a run for a person: on a terminal one line that is written
// over, in a pipe a line at each tenth of a run that is worth waiting for.
//
//   ProgressLine line;
//   options.progress = [&](const supervise::Progress& now) { line.Show(now); };

#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "framework/supervise/options.h"

namespace assay::run {

/// "[####    ] 50 of 100 cases, 3 unexpected, 12 s left", in at most `columns`;
/// what does not fit is left out, the count of cases last. Without a time where
/// `left_s` is negative.
std::string ProgressText(const supervise::Progress& now, double left_s,
                         size_t columns);

class ProgressLine {
 public:
  ProgressLine();
  /// Ends a line that is written over, so that what follows has its own.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const supervise::Progress& now);

 private:
  using Clock = std::chrono::steady_clock;

  void ShowBar(const supervise::Progress& now);
  /// Seconds until the end, by the cases since the first look; negative where
  /// that is too early to say.
  double SecondsLeft(const supervise::Progress& now) const;

  const bool terminal_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point shown_at_;
  int64_t done_at_first_ = -1;
  int64_t shown_ = -1;  // cases, or tenths of a run in a pipe
  size_t width_ = 0;    // of the line that stands there
};

}  // namespace assay::run
