// SPDX-License-Identifier: Apache-2.0
//
// Fewer targets, outputs and attributes: steps of shrinking, each of which
// returns a smaller draft that still fails, or nothing.
//
//   ASSAY_ASSIGN_OR_RETURN(auto smaller, ShrinkTargets(draft, judge));

#pragma once

#include <optional>

#include "framework/cli/repro/shrink_judge.h"
#include "framework/core/status.h"

namespace assay::repro {

/// One target or one output of several, of a case about derivatives.
Result<std::optional<Draft>> ShrinkTargets(const Draft& draft,
                                           ShrinkJudge& judge);

/// Attributes left out, so that they have their defaults: all that may be, or
/// one.
Result<std::optional<Draft>> ShrinkAttributes(const Draft& draft,
                                              ShrinkJudge& judge);

}  // namespace assay::repro
