// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/batched.h"

#include <algorithm>
#include <utility>

namespace assay::reference {
namespace {

Strides Scaled(Strides strides, int64_t factor) {
  for (int64_t& stride : strides) stride *= factor;
  return strides;
}

Shape Leading(const Shape& shape, int count) {
  return Shape(std::vector<int64_t>(shape.begin(), shape.begin() + count));
}

}  // namespace

Result<Batched> PlanMatMul(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                           ": a scalar is not a matrix");
  }
  const int64_t rows = a.rank() == 1 ? 1 : a[a.rank() - 2];
  const int64_t inner = a[a.rank() - 1];
  const int64_t columns = b.rank() == 1 ? 1 : b[b.rank() - 1];
  const int64_t inner_b = b[std::max(b.rank() - 2, 0)];
  if (inner != inner_b) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                           " do not multiply: ", inner, " columns against ",
                           inner_b, " rows");
  }
  const Shape batch_a = Leading(a, std::max(a.rank() - 2, 0));
  const Shape batch_b = Leading(b, std::max(b.rank() - 2, 0));
  ASSAY_ASSIGN_OR_RETURN(const Shape batch, Broadcast(batch_a, batch_b));
  Dims dims = batch.dims();
  if (a.rank() > 1) dims.push_back(rows);
  if (b.rank() > 1) dims.push_back(columns);
  Shape y_shape(dims);
  if (batch_b.rank() == 0) {  // one tall matrix on the left
    const int64_t all = Extent(batch_a, 0, batch_a.rank()) * rows;
    return Batched{std::move(y_shape), DenseProduct(all, inner, columns),
                   Nest<3>({}, {})};
  }
  const std::array<Strides, 3> strides = {
      Scaled(BroadcastStrides(batch_a, batch), rows * inner),
      Scaled(BroadcastStrides(batch_b, batch), inner * columns),
      Scaled(DenseStrides(batch), rows * columns)};
  return Batched{std::move(y_shape), DenseProduct(rows, inner, columns),
                 Nest<3>(batch, strides)};
}

}  // namespace assay::reference
