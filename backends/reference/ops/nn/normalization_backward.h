// SPDX-License-Identifier: Apache-2.0
//
// The gradients of normalizations (normalization.cc), with formulas of Ioffe
// and Szegedy 2015: what flows into normalized elements flows on to the
// elements, and to the moments that all of a group share.
//
//   return BatchNormalizationBackward(op, run);

#pragma once

#include "backends/reference/kernel/gradient.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

// Of all outputs, by all inputs that are wanted, of nodes that ran.
Status BatchNormalizationBackward(const op::BatchNormalization& op,
                                  GradientContext& run);
Status InstanceNormalizationBackward(const op::InstanceNormalization& op,
                                     GradientContext& run);
Status GroupNormalizationBackward(const op::GroupNormalization& op,
                                  GradientContext& run);
Status LayerNormalizationBackward(const op::LayerNormalization& op,
                                  GradientContext& run);
Status RmsNormalizationBackward(const op::RMSNormalization& op,
                                GradientContext& run);
Status MeanVarianceNormalizationBackward(
    const op::MeanVarianceNormalization& op, GradientContext& run);
Status LrnBackward(const op::LRN& op, GradientContext& run);

}  // namespace assay::reference
