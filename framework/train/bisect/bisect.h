// SPDX-License-Identifier: Apache-2.0
//
// Bisect: the first cause of a difference between two training runs.
//
// Both runs begin each step from one state. The first weights are compared
// once, then in each step the batch, the loss, the gradients, the running
// statistics and the update, in this order. Where a value is wrong, the inner
// values of both networks show the first wrong node. Where an update is wrong,
// or the two follow different conventions, settings are exchanged one by one in
// quad until they give the update that was seen.

#pragma once

#include "framework/core/status.h"
#include "framework/train/bisect/side.h"

namespace assay::bisect {

/// Both courses have models with the same parameters and running statistics.
/// Declines as NetworkObjective::Load does.
Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options);

}  // namespace assay::bisect
