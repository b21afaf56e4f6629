// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/nest.h"

#include <algorithm>

namespace assay::reference {

Strides DenseStrides(const Shape& shape) {
  Strides strides(static_cast<size_t>(shape.rank()), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    const auto i = static_cast<size_t>(axis);
    strides[i] = strides[i + 1] * shape[axis + 1];
  }
  return strides;
}

Strides BroadcastStrides(const Shape& from, const Shape& to) {
  const Strides dense = DenseStrides(from);
  Strides strides(static_cast<size_t>(to.rank()), 0);
  const int lead = to.rank() - from.rank();
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] == 1) continue;
    strides[static_cast<size_t>(axis + lead)] =
        dense[static_cast<size_t>(axis)];
  }
  return strides;
}

Result<Shape> Broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Dims dims(static_cast<size_t>(rank), 1);
  for (int axis = 0; axis < rank; ++axis) {
    const int ia = axis - (rank - a.rank());
    const int ib = axis - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia];
    const int64_t db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) {
      return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                             " do not broadcast: ", da, " against ", db);
    }
    dims[static_cast<size_t>(axis)] = da == 1 ? db : da;
  }
  return Shape(dims);
}

int64_t Extent(const Shape& shape, int first, int last) {
  int64_t product = 1;
  for (int axis = first; axis < last; ++axis) product *= shape[axis];
  return product;
}

Shape SubShape(const Shape& shape, int first, int last) {
  return Shape(std::span(shape.begin() + first, shape.begin() + last));
}

Shape JoinedShape(const Shape& a, const Shape& b) {
  Dims dims = a.dims();
  dims.insert(dims.end(), b.begin(), b.end());
  return Shape(dims);
}

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is outside [", -rank, ", ", rank,
                           ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<AxisView> AxisView::Of(const Shape& shape, int64_t axis) {
  ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, shape));
  return AxisView{.outer = Extent(shape, 0, k),
                  .count = shape[k],
                  .inner = Extent(shape, k + 1, shape.rank())};
}

Nest<3> PairNest(const Shape& a, const Shape& b, const Shape& y) {
  return Nest<3>(
      y, {BroadcastStrides(a, y), BroadcastStrides(b, y), DenseStrides(y)});
}

}  // namespace assay::reference
