// SPDX-License-Identifier: Apache-2.0
//
// GraphOptimizer: an optimizer whose rule a backend runs, as nodes of ONNX, so
// that the arithmetic of its steps is the backend's. Clips, and the decay of
// weights outside of the rule, are ours, as in every ThreeStepOptimizer.

#pragma once

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/rule/optimizers.h"

namespace assay::train {

/// Its graphs are bound at the first step, before a gradient is taken. The
/// backend must outlive it. Errors as MakeOptimizer's; unsupported for an
/// optimizer without a graph.
Result<Made> MakeGraphOptimizer(const Wanted& wanted, Backend& backend,
                                Recipe recipe = {});

}  // namespace assay::train
