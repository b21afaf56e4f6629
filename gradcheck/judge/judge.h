// SPDX-License-Identifier: Apache-2.0
//
// The judge of a gradient case: a ladder of checks of a backend's forward and
// backward against an oracle's answers. Each check has its own reason to fail.
//
//     the forward of the network loaded for gradients, as conformance judges it
//     every element of every gradient, for two random cotangents, ones, one-hot
//     for ones, equality with what a case states (differences.h)
//     the gradient along signs against the exact tangent
//     in float64, against differences of the backend's own outputs
//     structure: what must hold between backward runs (structure.h)

#pragma once

#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

measure::Judgement Judge(const GradientCase& c, Backend& backend,
                         record::Record* record);

/// A gradient of random draws has no exact answer, but has one given the draw:
/// where the first output is the input times a mask of zeros and one other
/// number, the gradient is the cotangent times that mask.
///
/// Empty where the gradient is that of the mask; else names the first place
/// where it is not. Not found where the first output is no such product of the
/// one target.
Result<std::string> JudgeDrawnMask(const GradientCase& c, Trial& trial);

}  // namespace assay::gradcheck
