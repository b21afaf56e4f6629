// SPDX-License-Identifier: Apache-2.0
//
// RunTable: the runs of one backend and optimizer over seeds, as CSV, so that
// others can be compared with them.
//
//   ASSAY_RETURN_IF_ERROR(
//       WriteRunTable("convergence.csv", std::span(&runs, 1)));
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<SeededRuns> kept,
//                          ReadRunTable("convergence.csv"));

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/converge/samples_to.h"

namespace assay::converge {

struct SeededRuns {
  std::string run;  // "mine:adam/pytorch"
  std::string dataset;
  Goal goal;
  std::vector<Reached> seeds;  // from 0 on

  /// The samples of the seeds that came to the goal.
  std::vector<double> Samples() const;
};

/// Fails as file::WriteFile does.
Status WriteRunTable(const std::filesystem::path& path,
                     std::span<const SeededRuns> all);

/// Not found for a missing file; data loss, with the line, for one that is no
/// such table.
Result<std::vector<SeededRuns>> ReadRunTable(const std::filesystem::path& path);

/// Invalid argument, with the difference, where the two did not have the same
/// goal.
Status CheckComparable(const SeededRuns& a, const SeededRuns& b);

}  // namespace assay::converge
