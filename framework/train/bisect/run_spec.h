// SPDX-License-Identifier: Apache-2.0
//
// RunSpec: one of two runs as a person names it.
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

/// "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]"; momentum and paper where it says none.
/// Invalid argument for an optimizer, a preset or a setting that there is not, and
/// where no backend is named.
Result<RunSpec> ParseRunSpec(std::string_view text);

}  // namespace assay::bisect
