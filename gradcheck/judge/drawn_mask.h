// SPDX-License-Identifier: Apache-2.0
//
// The gradient of what is drawn at random has no exact answer, but given the
// draw it has: where the first output is the input times a mask of zeros and
// one other number, the gradient is the cotangent times that mask.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string fault,
//                          JudgeDrawnMask(gradient_case, trial));

#pragma once

#include <string>

#include "framework/core/status.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

/// Empty where the gradient is that of the mask; else where it is not. Not
/// found where the first output is no such product of the one target.
Result<std::string> JudgeDrawnMask(const GradientCase& c, Trial& trial);

}  // namespace assay::gradcheck
