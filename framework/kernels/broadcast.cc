// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/broadcast.h"

#include <algorithm>
#include <utility>

namespace assay::inline v1::kernels {

Result<Broadcast> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  const auto extent = [rank](const Shape& shape, int axis) {
    const int own = axis - (rank - shape.rank());
    return own < 0 ? 1 : shape[own];
  };
  std::vector<int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t left = extent(a, axis);
    const int64_t right = extent(b, axis);
    if (left != right && left != 1 && right != 1) {
      return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                             " do not broadcast: axis ", axis, " has extents ",
                             left, " and ", right);
    }
    dims.push_back(left == 1 ? right : left);
  }
  Broadcast result;
  result.shape = Shape(dims);
  ASSAY_RETURN_IF_ERROR(result.shape.NumElements().status());
  int last_kind = -1;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t left = extent(a, axis);
    const int64_t right = extent(b, axis);
    const int64_t out = result.shape[axis];
    if (left == 1 && right == 1) continue;
    const int kind = (left == out ? 1 : 0) + (right == out ? 2 : 0);
    if (kind == last_kind) {
      result.a.back() *= left;
      result.b.back() *= right;
      result.out.back() *= out;
    } else {
      result.a.push_back(left);
      result.b.push_back(right);
      result.out.push_back(out);
    }
    last_kind = kind;
  }
  if (result.out.empty()) result.a = result.b = result.out = {1};
  return result;
}

std::vector<int64_t> BroadcastStrides(std::span<const int64_t> extents) {
  std::vector<int64_t> strides = RowMajorStrides(extents);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 1) strides[axis] = 0;
  }
  return strides;
}

bool BroadcastsTo(const Shape& from, const Shape& to) {
  const Result<Broadcast> both = BroadcastShapes(from, to);
  return both.ok() && both->shape == to;
}

}  // namespace assay::inline v1::kernels
