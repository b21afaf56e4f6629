// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

// SimdLoops needs this of an operand.
bool HasUnitStride(MatrixStrides strides) {
  return strides.row == 1 || strides.column == 1;
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

}  // namespace assay::reference
