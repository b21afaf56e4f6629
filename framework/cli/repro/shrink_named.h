// SPDX-License-Identifier: Apache-2.0
//
// Shrinking of a case that its name makes, as one of ranks: to the fewest
// ranks, steps and elements with which it fails in the same way.
//
//   ASSAY_RETURN_IF_ERROR(ShrinkByName(options, chosen, suite.sizing, say));

#pragma once

#include "framework/cli/commands.h"
#include "framework/cli/repro/shrink_judge.h"
#include "framework/core/status.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {

/// Says, and writes to options.out, the smallest case and the command that runs
/// it. Each candidate runs alone in a worker; ranks that are processes have a
/// launch of their own. One counts where it fails as the case does, and passes
/// on the instance that is right (suite::Sizing), unless the case itself fails
/// there. Invalid argument for a case that does not fail, or not when it runs
/// again, or that the backend does not support.
Status ShrinkByName(const cli::ShrinkOptions& options,
                    const select::ChosenCase& chosen,
                    const suite::Sizing& sizing, const ShrinkJudge::Say& say);

}  // namespace assay::repro
