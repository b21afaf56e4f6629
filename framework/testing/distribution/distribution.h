// SPDX-License-Identifier: Apache-2.0
//
// JudgeDraws: the verdict on a case that draws random numbers. The model is run
// thousands of times through the public interfaces. Every draw must be one that
// its law permits, and the counts over all draws must agree with the law.
//
// A draw that its law does not permit fails at once: an element of a Bernoulli
// that is neither 0 nor 1, or an element of a Dropout that is neither 0 nor x /
// (1 - ratio). So does a mask that disagrees with the output. The unlikeliest
// of the counts (distribution_counts.h) decides: the case fails where the
// p-value of this count times the number of counts is below `false_alarms`. By
// Bonferroni's inequality a backend that keeps the law fails no more often than
// that, whatever its elements have in common. The counts are tested twice,
// after 100 draws and at the end, and each test counts.
//
// A node without a seed is run again and again, on the numbers that the backend
// itself takes for it. These numbers are judged, so that they and their p-value
// differ from run to run, whatever the run's seed. A node with a seed must draw
// the same in two networks loaded alike; where its network also repeats itself
// in eight more runs, the draws come from copies of the node with other seeds
// (copies.h).

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"

namespace assay::distribution {

struct DrawPlan {
  int64_t draws = 10'000;
  /// How often, at most, a backend that keeps the law fails a case.
  double false_alarms = 1e-6;
  /// The seed from which the seeds of a seeded model are drawn.
  int64_t seed = 0;
  /// Processor time of the thread that runs, so that a verdict does not follow
  /// how busy the machine is. Too few draws after it are an error, reason
  /// limit.
  std::chrono::microseconds budget = std::chrono::seconds(60);
};

/// The verdict of one data set. `metrics` are those that Measure took of its
/// first run under this limit, within limits; they get the number of draws and
/// the p-value. Unsupported, reason value, where the law is not known. Never
/// throws: an exception of the backend is an error.
measure::Judgement JudgeDraws(Backend& backend,
                              std::shared_ptr<const Model> model,
                              const cases::DataSet& set,
                              const LoadOptions& options,
                              const cases::Limit& limit, const DrawPlan& plan,
                              std::vector<measure::OutputMetrics>& metrics);

}  // namespace assay::distribution
