// SPDX-License-Identifier: Apache-2.0
//
// ONNX's multidirectional broadcasting (docs/Broadcasting.md, after numpy).
//
//   ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
//                          kernels::BroadcastShapes({2, 1, 3, 4}, {3, 4}));
//   // axes.shape is [2,1,3,4]; axes.a {2, 12}, axes.b {1, 12}, out {2, 12}

#pragma once

#include <cstdint>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::inline v1::kernels {

/// Two operands with as few axes as describe their broadcasting: neighbours
/// that are broadcast alike are one axis.
struct Broadcast {
  Shape shape;                     // of the result
  std::vector<int64_t> a, b, out;  // equal ranks of at least 1
};

/// Invalid argument when the shapes do not broadcast, resource exhausted when
/// the number of elements does not fit int64.
Result<Broadcast> BroadcastShapes(const Shape& a, const Shape& b);

/// True when `from` becomes `to` by repeating axes of extent 1: unidirectional
/// broadcasting.
bool BroadcastsTo(const Shape& from, const Shape& to);

}  // namespace assay::inline v1::kernels
