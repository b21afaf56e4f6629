// SPDX-License-Identifier: Apache-2.0
//
// Bisect: the first cause of a difference between two training runs.
//
//   ASSAY_ASSIGN_OR_RETURN(const Finding found, Bisect(std::move(a), std::move(b),
//                                                      options));
//   found.sentence;   // "at step 3 the Conv of run b is wrong: ..."
//
// At each step everything is compared in the order in which it comes about, from one
// state: the first weights once, then the batch, the loss, the gradients, running
// statistics, the step.
// Where a value is wrong the node is searched by inner values of both networks;
// where a step is, or where the two have other conventions, one setting after the
// other is exchanged in quad until the step comes about.

#pragma once

#include "framework/core/status.h"
#include "framework/train/bisect/cause.h"
#include "framework/train/bisect/side.h"

namespace assay::bisect {

/// Both courses have models with the same parameters and running statistics. As NetworkObjective::Load
/// declines.
Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options);

}  // namespace assay::bisect
