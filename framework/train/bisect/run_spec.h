// SPDX-License-Identifier: Apache-2.0
//
// RunSpec: a training run as a person names it.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const RunSpec run,
//       ParseRunSpec("onednn+threads=1:adam/pytorch:rate=0.01 beta1=0.8"));
//   run.backend;               // "onednn+threads=1"
//   run.optimizer.preset;      // "pytorch"

#pragma once

#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::bisect {

struct RunSpec {
  std::string backend;  // instance
  quad::OptimizerSpec optimizer;
};

/// Parses "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]". The optimizer is momentum
/// and the preset paper where none is named. Invalid argument for an unknown
/// optimizer, preset or setting, and where no backend is named.
Result<RunSpec> ParseRunSpec(std::string_view text);

}  // namespace assay::bisect
