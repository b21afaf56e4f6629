// SPDX-License-Identifier: Apache-2.0
//
// The gradients of RNN, GRU and LSTM: the walk again, in double, then back
// through time (Werbos 1990).
//
//   kernel.backward = [op](GradientContext& run) {
//     return RecurrentBackward(op, run);
//   };

#pragma once

#include "framework/backend/eager/kernel.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

// Of all outputs, by all inputs that are wanted, of nodes that ran.
Status RecurrentBackward(const op::RNN& op, GradientContext& run);
Status RecurrentBackward(const op::GRU& op, GradientContext& run);
Status RecurrentBackward(const op::LSTM& op, GradientContext& run);

}  // namespace assay::reference
