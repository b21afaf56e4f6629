// SPDX-License-Identifier: Apache-2.0
//
// Reserve: memory for a tensor, which serves again in the next step.
//
//   ASSAY_RETURN_IF_ERROR(Reserve(parameter.value, &gradient));

#pragma once

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// Memory of the type and shape of `like`, with any contents. As Allocate
/// declines.
inline Status Reserve(const Tensor& like, Tensor* to) {
  if (to->defined() && to->dtype() == like.dtype() &&
      to->shape() == like.shape()) {
    return OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(*to, Tensor::Allocate(like.dtype(), like.shape()));
  return OkStatus();
}

}  // namespace assay::train
