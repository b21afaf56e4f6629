// SPDX-License-Identifier: Apache-2.0
//
// Stated answers: outputs and gradients that a case gives by itself, from a
// formula that somebody solved by hand, so that a fault of the oracle shows.
// They are of few binary digits, and equality is asked for.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto stated,
//                          cases::ReadStated(folder, 1, {"w"}));
//   FaultOfStated(stated, {"w"}, outputs, gradients);
//   // "the gradient of 'w' is -1 at element 0, wanted -2 as the case states"

#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/core/value.h"
#include "framework/testing/case/test_case.h"

namespace assay::gradcheck {

/// The first element that is another number than the case states; empty where
/// there is none, or where the case states nothing. `gradients` are of the sum
/// of the outputs, one for each target; both of any type of floating-point
/// numbers.
std::string FaultOfStated(const cases::Stated& stated,
                          const std::vector<std::string>& targets,
                          std::span<const Value> outputs,
                          std::span<const Value> gradients);

}  // namespace assay::gradcheck
