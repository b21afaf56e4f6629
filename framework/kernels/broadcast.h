// SPDX-License-Identifier: Apache-2.0
//
// ONNX's multidirectional broadcasting (docs/Broadcasting.md, after numpy).
//
//   ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
//                          kernels::BroadcastShapes({2, 1, 3, 4}, {3, 4}));
//   // axes.shape is [2,1,3,4]; axes.a {2, 12}, axes.b {1, 12}, out {2, 12}
//   kernels::ForEachElement(axes, [&](int64_t y, int64_t a, int64_t b) {
//     result[y] = left[a] + right[b];
//   });

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/kernels/axis.h"

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

/// The steps in elements along each axis in an operand of these extents: 0
/// where it is repeated.
std::vector<int64_t> BroadcastStrides(std::span<const int64_t> extents);

/// Calls use(y, a, b) for each element of the result, in row-major order, with
/// its place and those of the elements of the operands that it is made of. A
/// sum over repeated axes, as a gradient takes it, adds place y to place a.
template <class Use>
void ForEachElement(const Broadcast& axes, const Use& use) {
  const std::vector<int64_t> step_a = BroadcastStrides(axes.a);
  const std::vector<int64_t> step_b = BroadcastStrides(axes.b);
  const size_t last = axes.out.size() - 1;
  const int64_t total = Product(axes.out);
  std::vector<int64_t> index(axes.out.size(), 0);
  int64_t a = 0;
  int64_t b = 0;
  for (int64_t y = 0; y < total; y += axes.out[last]) {
    for (int64_t i = 0; i < axes.out[last]; ++i) {
      use(y + i, a + i * step_a[last], b + i * step_b[last]);
    }
    for (size_t axis = last; axis-- > 0;) {
      a += step_a[axis];
      b += step_b[axis];
      if (++index[axis] < axes.out[axis]) break;
      a -= step_a[axis] * axes.out[axis];
      b -= step_b[axis] * axes.out[axis];
      index[axis] = 0;
    }
  }
}

/// True when `from` becomes `to` by repeating axes of extent 1: unidirectional
/// broadcasting.
bool BroadcastsTo(const Shape& from, const Shape& to);

}  // namespace assay::inline v1::kernels
