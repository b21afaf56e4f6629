// SPDX-License-Identifier: Apache-2.0
//
// Derivatives as steps of a tape: a reverse pass in Vars, so that what it
// computes is recorded like a kernel's results and has bounds and derivatives
// of its own.
//
//   // while a tape records
//   const std::vector<v1::Value> inputs = {x, w};
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> gradients,
//                          DifferentiateOnTape(call, inputs, 2));

#pragma once

#include <span>
#include <vector>

#include "framework/backend/eager/eager.h"

namespace assay::reference {

/// As KernelContext::Differentiate, of a part of the graph which `call` runs on
/// the current tape. Inputs and gradients are tensors of Vars. A decision that
/// the part took is noted as a jump, since derivatives differ beside it; where
/// it was between equal numbers, no precision tells the derivative.
Result<std::vector<assay::Value>> DifferentiateOnTape(
    const CallPart& call, std::span<const assay::Value> inputs, int targets);

}  // namespace assay::reference
