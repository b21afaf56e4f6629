// SPDX-License-Identifier: Apache-2.0
//
// Shrinking: from a case that fails to the smallest one found that fails in the
// same way, by outcome and reason. First fewer targets and nodes, then fewer
// attributes and elements, then plainer values, until nothing helps.

#pragma once

#include "framework/cli/repro/shrink_judge.h"

namespace assay::repro {

/// The first draft, one for each data set, on which the case fails, with the
/// oracle's answer as the right one. Invalid argument when it fails on none in
/// this way.
Result<Draft> FirstDraft(const std::vector<Draft>& drafts, ShrinkJudge& judge);

Result<Draft> Shrink(Draft draft, ShrinkJudge& judge);

}  // namespace assay::repro
