// SPDX-License-Identifier: Apache-2.0
//
// RunComparison: the times of two finished runs, case by case. One run was
// timed after the other, so that anything may lie between them: they can show
// that a case takes the same time, never that it takes longer or shorter.
//
//   ASSAY_ASSIGN_OR_RETURN(const TimedRun base, ReadTimedRun("runs/monday"));
//   ASSAY_ASSIGN_OR_RETURN(const TimedRun now, ReadTimedRun("runs/latest"));
//   ASSAY_ASSIGN_OR_RETURN(const auto all, CompareRuns(base, now, 0.03));

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/cli/compare/comparison_report.h"
#include "framework/core/status.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/times/row.h"

namespace assay::compare {

struct TimedRun {
  std::filesystem::path folder;
  std::string env_id;
  std::map<std::string, std::string> environment;  // by key
  plan::Plan plan;
  std::vector<record::BackendRow> backends;
  std::vector<times::TimeRow> warm;  // of the cases that passed
};

/// Invalid argument for a folder that is no finished run, for one whose cases
/// were not timed, and for tables that do not read.
Result<TimedRun> ReadTimedRun(const std::filesystem::path& folder);

/// Cases on two backends, one in each run.
struct ComparedRuns {
  std::vector<Compared> all;          // same or unsure
  std::vector<std::string> confirms;  // by case: the command that decides
  int64_t n_alone = 0;                // cases of one run only
  /// Names of those whose module in one run is not that of the other, so that
  /// the command would time the newest beside itself.
  std::vector<std::string> rebuilt;
};

/// Cases are those of the same test_id and mode of caches, on the backends that
/// both runs have, or on the only one of each. A case is the same where all
/// ratios of two times within their intervals are within the margin, and
/// neither was taken while the machine was not quiet. Invalid argument for runs
/// of two environments, with the facts that differ, and for those that have no
/// case in common.
Result<ComparedRuns> CompareRuns(const TimedRun& base,
                                 const TimedRun& candidate, double margin);

/// As TextOf, with the commands of the cases that are unsure.
std::string RunsText(const ComparedRuns& found, const TimedRun& base,
                     const TimedRun& candidate, double margin);

}  // namespace assay::compare
