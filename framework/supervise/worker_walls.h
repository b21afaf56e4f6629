// SPDX-License-Identifier: Apache-2.0
//
// The walls around the process of a backend (framework/testing/walls) in a run.
//
//   const walls::Walls walls = WallsFor(backend, options);

#pragma once

#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/walls/walls.h"

namespace assay::supervise {

/// The folders that it must not see, as answers and records, and those that it
/// must not change, as programs and policies. The folder of its module is seen
/// in any case.
walls::Walls WallsFor(const plan::BackendUse& backend,
                      const SuperviseOptions& options);

}  // namespace assay::supervise
