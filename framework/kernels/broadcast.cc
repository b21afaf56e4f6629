// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/broadcast.h"

#include <algorithm>

#include "framework/kernels/reshape.h"

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
