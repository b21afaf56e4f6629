// SPDX-License-Identifier: Apache-2.0
//
// The gradients of Attention: its heads again, in double, and back through
// their stages.
//
//   kernel.backward = std::bind_front(&AttendBackward, op, loops);

#pragma once

#include "backends/reference/loop/simd.h"
#include "framework/backend/eager/kernel.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// Of all outputs, by all inputs that are wanted, of a node that ran.
Status AttendBackward(const op::Attention& op, const SimdLoops<double>* loops,
                      GradientContext& run);

}  // namespace assay::reference
