// SPDX-License-Identifier: Apache-2.0
//
// The gradient where every input has two readers is the sum of two, and that of
// an input that nobody reads is zero.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string fault,
//                          FanOutFault(trial, judged));

#pragma once

#include <string>

#include "framework/core/status.h"
#include "gradcheck/run/judged.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

/// Loads the case's model twice over (edit/doubled.h) with the backend of the
/// trial, and gives both halves the same cotangents. Empty where the gradients
/// are twice those that were judged, or where Load or Bind declines the model.
/// An input that nobody reads may be declined as a target.
Result<std::string> FanOutFault(Trial& trial, const Judged& judged);

}  // namespace assay::gradcheck
