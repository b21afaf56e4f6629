// SPDX-License-Identifier: Apache-2.0
//
// Coarse: bounds and units in 16 bits, rounded up, so that a limit that is made
// of them grows by a hundredth at most, and what is kept of an answer is small.
//
//   ASSAY_ASSIGN_OR_RETURN(answer.units, Coarse(std::move(units)));

#pragma once

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::gradcheck {

/// What rounding up makes of a number at most, as a multiple of it.
inline constexpr double kCoarsest = 1 + 0x1p-7;

/// `numbers`, float64 and none below 0, as bfloat16: none less than it was, and
/// none beyond kCoarsest times it. As they are where that type has no such
/// number.
Result<Tensor> Coarse(Tensor numbers);

}  // namespace assay::gradcheck
