// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/accumulate.h"

#include <algorithm>
#include <utility>

namespace assay::reference {
namespace {

// SimdLoops needs this of an operand.
bool HasUnitStride(MatrixStrides strides) {
  return strides.row == 1 || strides.column == 1;
}

Strides Scaled(Strides strides, int64_t factor) {
  for (int64_t& stride : strides) stride *= factor;
  return strides;
}

}  // namespace

template <class T>
void Accumulate(const SimdLoops<T>* loops, const Product& p, const T* a,
                const T* b, T* y) {
  if (p.y.column != 1 && p.y.row == 1) {  // y^T += b^T a^T
    const Product turned = {.rows = p.columns,
                            .inner = p.inner,
                            .columns = p.rows,
                            .a = p.b.Transposed(),
                            .b = p.a.Transposed(),
                            .y = p.y.Transposed(),
                            .scale = p.scale};
    Accumulate(loops, turned, b, a, y);
    return;
  }
  if (loops != nullptr && p.y.column == 1 && HasUnitStride(p.a) &&
      HasUnitStride(p.b)) {
    loops->multiply(p, a, b, y);
    return;
  }
  MultiplyPlainly(p, a, b, y);
}

template void Accumulate(const SimdLoops<float>*, const Product&, const float*,
                         const float*, float*);
template void Accumulate(const SimdLoops<double>*, const Product&,
                         const double*, const double*, double*);
template void Accumulate(const SimdLoops<int64_t>*, const Product&,
                         const int64_t*, const int64_t*, int64_t*);
template void Accumulate(const SimdLoops<uint64_t>*, const Product&,
                         const uint64_t*, const uint64_t*, uint64_t*);

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
  const Shape batch_a = SubShape(a, 0, std::max(a.rank() - 2, 0));
  const Shape batch_b = SubShape(b, 0, std::max(b.rank() - 2, 0));
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
