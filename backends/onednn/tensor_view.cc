// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/tensor_view.h"

#include <algorithm>
#include <utility>

namespace assay::onednn {

std::optional<memory::data_type> DataType(DType type) {
  switch (type) {
    case DType::kFloat32:
      return memory::data_type::f32;
    case DType::kBFloat16:
      return memory::data_type::bf16;
    case DType::kFloat16:
      return memory::data_type::f16;
    case DType::kInt32:
      return memory::data_type::s32;
    case DType::kInt8:
      return memory::data_type::s8;
    case DType::kUint8:
    case DType::kBool:
      return memory::data_type::u8;
    default:
      return std::nullopt;
  }
}

memory::desc TensorView::Desc() const {
  return As(shape.rank() == 0 ? memory::dims{1} : shape.dims());
}

memory::desc TensorView::As(const memory::dims& dims) const {
  return {dims, type, RowMajorStrides(dims)};
}

TensorView MakeView(DType dtype, memory::data_type type, Shape shape) {
  const int64_t count = Product(shape.dims(), 0, shape.dims().size());
  return {dtype, type, std::move(shape), count};
}

memory::dims RowMajorStrides(const memory::dims& dims) {
  memory::dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

int64_t Product(const memory::dims& dims, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= dims[i];
  return product;
}

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis is ", axis, ", wanted one in [", -rank, ", ",
                           rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
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
  Broadcast result{.shape = Shape(std::move(dims))};
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

bool BroadcastsTo(const Shape& from, const Shape& to) {
  const Result<Broadcast> both = BroadcastShapes(from, to);
  return both.ok() && both->shape == to;
}

}  // namespace assay::onednn
