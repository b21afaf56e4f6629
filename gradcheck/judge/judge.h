// SPDX-License-Identifier: Apache-2.0
//
// The judge of a gradient case: a ladder of checks of a backend's forward and
// backward against an oracle's answers, each a reason of its own to fail.
//
//   record->result.outcome =
//       Judge(gradient_case, backend, record).outcome;
//
//     the forward of the network loaded for gradients, as conformance judges it
//     every element of every gradient, for two random cotangents, ones, one-hot
//     for ones, equality with what a case states (stated.h)
//     the gradient along signs against the exact tangent
//     in float64, against differences of the backend's own outputs
//     structure: what must hold between backward runs (structure.h)

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

measure::Judgement Judge(const GradientCase& c, Backend& backend,
                         record::Record* record);

}  // namespace assay::gradcheck
