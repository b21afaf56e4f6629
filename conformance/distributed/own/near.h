// SPDX-License-Identifier: Apache-2.0
//
// Sums of ranks that round, in an order that is the library's own.
//
//   if (const auto fault = JudgeNear(what, before, got, &row)) return *fault;

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/own/own_part.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/testing/measure/measure.h"

namespace assay::distributed {

/// Adds the greatest distance in ULP, and of an all-reduce whether ranks have the same bits,
/// to the row. Null where each element is within the bound of any order of n - 1 additions,
/// (n - 1) u / (1 - (n - 1) u) times the sum of the magnitudes (N. J. Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., 2002, section 4.2), and those of an
/// all-reduce agree.
std::optional<measure::Judgement> JudgeNear(const ranks::Collective& what,
                                            const OwnSet& before,
                                            std::span<const Tensor> got,
                                            DistributedRow* row);

/// On what the bits of a sum do not depend, joined by "+": "run", as those of the second
/// run are the same; "sizes", as elements of half as many are; "order", as they are where
/// each rank has the contents of the next one. "none" where they depend on all. `ran` are
/// the tasks of each rank (TasksOf).
std::string DeterminismOf(const std::vector<std::vector<OwnTask>>& ran);

}  // namespace assay::distributed
