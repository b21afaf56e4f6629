// SPDX-License-Identifier: Apache-2.0
//
// RunCase of an OwnCase: runs it, and compares the results bit by bit, or with
// their bound where they round.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Null where each element is within the bound of any order of n - 1 additions,
///
///   |found - sum| <= (n - 1) u / (1 - (n - 1) u) * sum of magnitudes
///
/// (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// 2002, section 4.2), and, for an all-reduce, all ranks have the same bits.
/// Adds the greatest distance in ULP, and for an all-reduce the agreement, to
/// the row.
std::optional<measure::Judgement> JudgeNear(const ranks::Collective& what,
                                            const OwnSet& before,
                                            std::span<const Tensor> got,
                                            DistributedRow* row);

/// The variations on which the bits of a sum do not depend, joined by "+":
/// "run" (a second run), "sizes" (half as many elements), "order" (each rank
/// has the contents of the next one). "none" where they depend on all. `ran`
/// has the tasks of each rank (TasksOf).
std::string DeterminismOf(const std::vector<std::vector<OwnTask>>& ran);

/// Adds a row for each root. Unsupported for a library without the collective.
measure::Judgement RunCase(const OwnCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed
