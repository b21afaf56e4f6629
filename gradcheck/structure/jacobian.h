// SPDX-License-Identifier: Apache-2.0
//
// Every element of every Jacobian, a backward for each element of the outputs:
// what a backward gives for one cotangent it must give for the parts of it.
// With cotangents that are nowhere zero no part can hide.

#pragma once

#include <optional>
#include <string>

#include "framework/core/status.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

/// The rows of all Jacobians, each times its cotangent, against the gradients
/// that were judged; empty where their sums are near. Nothing where outputs
/// times inputs, or outputs times outputs, are more than a million elements.
Result<std::optional<std::string>> JacobianFault(Trial& trial,
                                                 const Judged& judged);

}  // namespace assay::gradcheck
