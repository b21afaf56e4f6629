// SPDX-License-Identifier: Apache-2.0
//
// Fewer nodes: a step of shrinking, which returns a smaller draft that still
// fails, or nothing.
//
//   ASSAY_ASSIGN_OR_RETURN(auto smaller, ShrinkGraph(draft, judge));

#pragma once

#include <optional>

#include "framework/cli/repro/shrink_judge.h"
#include "framework/core/status.h"

namespace assay::repro {

/// The first node that goes wrong when it is fed what the oracle computed, or
/// the fewest nodes that go wrong together.
Result<std::optional<Draft>> ShrinkGraph(const Draft& draft,
                                         ShrinkJudge& judge);

}  // namespace assay::repro
