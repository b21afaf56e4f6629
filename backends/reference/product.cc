// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/product.h"

#include "backends/reference/simd.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {
namespace {

// The terms one by one, in an order that reads b and y along rows.
template <class T>
void MultiplyPlainly(const Product& p, const T* a, const T* b, T* y) {
  const T scale(p.scale);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t t = 0; t < p.inner; ++t) {
      const T factor = scale * a[i * p.a.row + t * p.a.column];
      for (int64_t j = 0; j < p.columns; ++j) {
        y[i * p.y.row + j * p.y.column] +=
            factor * b[t * p.b.row + j * p.b.column];
      }
    }
  }
}

// What SimdLoops wants of an operand.
bool HasUnitStride(MatrixStrides strides) {
  return strides.row == 1 || strides.column == 1;
}

}  // namespace

Product DenseProduct(int64_t rows, int64_t inner, int64_t columns) {
  return {.rows = rows,
          .inner = inner,
          .columns = columns,
          .a = {inner, 1},
          .b = {columns, 1},
          .y = {columns, 1}};
}

Product ForA(const Product& p) {
  return {.rows = p.rows,
          .inner = p.columns,
          .columns = p.inner,
          .a = p.y,
          .b = p.b.Transposed(),
          .y = p.a,
          .scale = p.scale};
}

Product ForB(const Product& p) {
  return {.rows = p.inner,
          .inner = p.rows,
          .columns = p.columns,
          .a = p.a.Transposed(),
          .b = p.y,
          .y = p.b,
          .scale = p.scale};
}

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

// On a tape the whole product is one block.
template <>
void Accumulate(const SimdLoops<Var>*, const Product& p, const Var* a,
                const Var* b, Var* y) {
  if (Tape* const tape = Tape::Current(); tape != nullptr) {
    tape->PushBlock(p, a, b, y);
  } else {
    MultiplyPlainly(p, a, b, y);
  }
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
