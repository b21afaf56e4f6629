// SPDX-License-Identifier: Apache-2.0
//
// Memory that is kept from run to run: a tensor is made anew only where its
// type or shape has changed, or somebody else holds its bytes.
//
//   ASSAY_RETURN_IF_ERROR(flow::Fit(held, x.dtype(), x.shape()));
//   Write(held);

#pragma once

#include <utility>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::flow {

/// Equality without a call of memcmp, which costs more than a few extents.
inline bool SameExtents(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a[axis] != b[axis]) return false;
  }
  return true;
}

/// True for a tensor of this type and shape.
inline bool Is(const Tensor& tensor, DType dtype, const Shape& shape) {
  return tensor.dtype() == dtype && SameExtents(tensor.shape(), shape);
}

/// Makes `held` a tensor of this type and shape whose bytes nobody else holds.
/// Its content is unspecified.
inline Status Fit(Tensor& held, DType dtype, const Shape& shape) {
  if (Is(held, dtype, shape) && held.unique()) [[likely]]
    return OkStatus();
  Shape wanted = shape;  // may be that of `held`
  held = Tensor();       // so that old and new are not held at once
  ASSAY_ASSIGN_OR_RETURN(held, Tensor::Allocate(dtype, std::move(wanted)));
  return OkStatus();
}

}  // namespace assay::flow
