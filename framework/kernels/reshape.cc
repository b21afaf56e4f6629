// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/reshape.h"

#include <utility>

#include "framework/kernels/axis.h"

namespace assay::inline v1::kernels {

Result<Shape> ReshapedShape(const Shape& x, std::vector<int64_t> dims,
                            bool allowzero) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, x.NumElements());
  int64_t known = 1;
  int64_t* open = nullptr;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t& extent = dims[i];
    if (extent == 0 && !allowzero) {
      if (i >= x.dims().size()) {
        return InvalidArgument("shape copies axis ", i, " of ", x.ToString());
      }
      extent = x.dims()[i];
    }
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else if (extent < 0 || __builtin_mul_overflow(known, extent, &known)) {
      return InvalidArgument("shape has the extent ", extent);
    }
  }
  if (open != nullptr) {
    if (known == 0 || count % known != 0) {
      return InvalidArgument("shape leaves no whole extent for -1 over ",
                             x.ToString());
    }
    *open = count / known;
  }
  return Shape(dims);
}

Result<Shape> SqueezedShape(const Shape& x, std::span<const int64_t> axes) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> dropped,
                         ListedAxes(axes, x.rank()));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < dropped.size(); ++i) {
    const int64_t extent = x.dims()[i];
    if (!dropped[i]) {
      dims.push_back(extent);
    } else if (extent != 1) {
      return InvalidArgument("axis ", i, " of ", x.ToString(), " is not 1");
    }
  }
  return Shape(dims);
}

Shape SqueezedShape(const Shape& x) {
  std::vector<int64_t> dims;
  for (const int64_t extent : x) {
    if (extent != 1) dims.push_back(extent);
  }
  return Shape(dims);
}

Result<Shape> UnsqueezedShape(const Shape& x, std::span<const int64_t> axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> added, ListedAxes(axes, rank));
  std::vector<int64_t> dims;
  auto next = x.begin();
  for (const bool is_added : added) {
    if (!is_added && next == x.end()) {
      return InvalidArgument("axes are ", Shape(axes).ToString(),
                             ", one of them twice");
    }
    dims.push_back(is_added ? 1 : *next++);
  }
  return Shape(dims);
}

Result<Shape> FlattenedShape(const Shape& x, int64_t axis) {
  const int64_t rank = x.rank();
  if (axis < -rank || axis > rank) {
    return InvalidArgument("axis is ", axis, " for ", x.ToString());
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return Shape{Product(x.dims(), 0, at),
               Product(x.dims(), at, x.dims().size())};
}

}  // namespace assay::inline v1::kernels
