// SPDX-License-Identifier: Apache-2.0
//
// Reorder: a copy of elements between two tensors of one element type, which is
// one primitive of oneDNN; and AddRuns, which copies the parts that an operator
// such as Slice or Pad keeps by several.
//
// A reorder between equal types copies bits, so that elements that oneDNN has
// no type for travel as several of one that it has: int64 as two int32.

#pragma once

#include <vector>

#include "backends/onednn/primitive/chain.h"
#include "framework/kernels/slice.h"

namespace assay::onednn {

/// A tensor whose elements travel as `lanes` of view.type each.
struct LaneView {
  TensorView view;
  int64_t lanes = 1;

  /// Row-major over extents with as many elements, lanes joined to the last.
  memory::desc As(memory::dims dims) const;
};

/// Unsupported, reason dtype, where elements are not of whole bytes.
Result<LaneView> ViewLanes(ChainBuilder& chain, Input input);
Result<LaneView> ViewLanes(const ChainBuilder& chain, DType dtype,
                           const Shape& shape);

/// Which element of a tensor an index names: offset + sum index * stride.
struct Strided {
  memory::dims strides;
  int64_t offset = 0;  // elements
};

/// The copy to[index] = from[index] over `dims`.
struct Reorder {
  memory::dims dims;
  Strided from, to;
};

/// Appends one reorder. Both tensors carry one element type.
void AddReorder(ChainBuilder& chain, Input input, const LaneView& x,
                Output output, const LaneView& y, const Reorder& reorder);

/// Appends one reorder for each combination of a run of every axis, and of an
/// element where a run walks backwards, as no reorder does. Resource exhausted
/// when these are more than kMostReorders.
Status AddRuns(ChainBuilder& chain, Input input, const LaneView& x,
               Output output, const LaneView& y,
               const std::vector<std::vector<kernels::AxisRun>>& axes);

inline constexpr int64_t kMostReorders = int64_t{1} << 16;

}  // namespace assay::onednn
