// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are bound once and run again and again are those of Backward.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string fault, BoundFault(trial, judged));

#pragma once

#include <string>

#include "framework/core/status.h"
#include "gradcheck/run/judged.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

/// Binds gradients in guarded memory after a forward of other inputs, for other
/// cotangents, and runs them; then runs them twice after a forward of the
/// case's own, whose gradients `judged` has. Empty where these are near, of the
/// same bits twice, and no memory was written that is not theirs; or where
/// BindBackward is unsupported.
Result<std::string> BoundFault(Trial& trial, const Judged& judged);

}  // namespace assay::gradcheck
