// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/axis.h"

#include <algorithm>

namespace assay::inline v1::kernels {

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis is ", axis, ", wanted one in [", -rank, ", ",
                           rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<bool>> ListedAxes(std::span<const int64_t> axes, int rank) {
  std::vector<bool> listed(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, rank));
    listed[static_cast<size_t>(at)] = true;
  }
  return listed;
}

int64_t Product(std::span<const int64_t> extents, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= extents[i];
  return product;
}

int64_t Product(std::span<const int64_t> extents) {
  return Product(extents, 0, extents.size());
}

std::vector<int64_t> RowMajorStrides(std::span<const int64_t> extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(extents[i], 1);
  }
  return strides;
}

}  // namespace assay::inline v1::kernels
