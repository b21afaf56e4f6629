// SPDX-License-Identifier: Apache-2.0
//
// The shapes that Reshape, Squeeze, Unsqueeze and Flatten give, which keep
// elements where they are.
//
//   ASSAY_ASSIGN_OR_RETURN(const Shape y,
//                          kernels::ReshapedShape({2, 3, 4}, {0, -1}, false));
//   // [2,12]
//
// Every function says `invalid argument` for what ONNX does not permit.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::inline v1::kernels {

/// Reshape-25: 0 copies the extent of x unless `allowzero`, one -1 takes what
/// is left. As many elements as x otherwise need not be checked here.
Result<Shape> ReshapedShape(const Shape& x, std::vector<int64_t> dims,
                            bool allowzero);

/// Squeeze-25 without the listed axes, which have the extent 1.
Result<Shape> SqueezedShape(const Shape& x, std::span<const int64_t> axes);
/// Without every axis of extent 1.
Shape SqueezedShape(const Shape& x);

/// Unsqueeze-25: with an axis of extent 1 at each listed place of the result.
Result<Shape> UnsqueezedShape(const Shape& x, std::span<const int64_t> axes);

/// Flatten-25: the axes before `axis`, from [-rank, rank], and the others.
Result<Shape> FlattenedShape(const Shape& x, int64_t axis);

}  // namespace assay::inline v1::kernels
