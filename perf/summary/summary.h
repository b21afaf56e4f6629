// SPDX-License-Identifier: Apache-2.0
//
// Summary: what the times of a run say together: the fates of the problems of
// each set, which add up; the time of a network as that of its layers; and how
// times grow with a size, a batch or threads.
//
//   ASSAY_ASSIGN_OR_RETURN(const TimedRun run, ReadRun("runs/latest"));
//   Print(TextOf(run));

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/times/problem_row.h"
#include "framework/testing/times/row.h"
#include "perf/problems/fate.h"

namespace assay::summary {

/// The rows of a run folder that times are in.
struct TimedRun {
  std::vector<record::ResultRow> results;
  std::vector<times::ProblemRow> problems;
  std::vector<times::TimeRow> times;
};

/// Not found for a folder without these tables, data loss for broken ones.
Result<TimedRun> ReadRun(const std::filesystem::path& folder);

/// By backend and benchmark: "deepbench" of "deepbench.train". Each result of
/// suite time that is about a known problem counts once. Without a row of the
/// table problems, one that took longer than its case may is too big by time,
/// one of a library that is missing is declined, any other has failed.
std::map<std::pair<std::string, std::string>, problems::Tally> TalliesOf(
    const TimedRun& run);

/// A network by its layers: the medians of warm calls, each as often as the
/// network has it.
struct Network {
  std::string backend, set;
  int64_t n_layers = 0;  // with those that are there more than once
  int64_t n_timed = 0;   // of these
  double sum_ns = 0;     // of those that are timed
  /// The case of a whole model that ends in the set's name, and its median.
  std::string whole;
  std::optional<double> whole_ns;
};
std::vector<Network> NetworksOf(const TimedRun& run);

/// Families of problems that differ in a number, and cases that were timed with
/// different settings `threads`, by the medians of warm calls. Those of less
/// than two sizes are left out, and cases that are wrong.
std::vector<times::ScalingRow> ScalingsOf(const TimedRun& run);

/// The same as records, of the final records of a run (suite::Suite::sums).
std::vector<record::Record> SumsOf(std::span<const record::Record> finals);

/// All three, for a person.
std::string TextOf(const TimedRun& run);

}  // namespace assay::summary
