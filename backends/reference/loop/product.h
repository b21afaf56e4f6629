// SPDX-License-Identifier: Apache-2.0
//
// Product: the one bilinear operation that MatMul, Gemm and Conv are made of,
// as a list of its terms:
//
//     y[i, j] += scale * sum over t of a[i, t] * b[t, j]
//
// with a stride per axis, so that transposes and tiles are views. Both
// vector-Jacobian products are the same operation with the roles exchanged:
//
//   Accumulate(loops, p, a, b, y);          // y  += a b
//   Accumulate(loops, ForA(p), dy, b, da);  // da += dy b^T
//   Accumulate(loops, ForB(p), a, dy, db);  // db += a^T dy

#pragma once

#include <cstdint>

namespace assay::reference {

/// How a matrix lies in memory: steps in elements, none negative.
struct MatrixStrides {
  int64_t row = 0;
  int64_t column = 0;

  constexpr MatrixStrides Transposed() const { return {column, row}; }
};

struct Product {
  int64_t rows = 0;     // of a and y
  int64_t inner = 0;    // columns of a, rows of b
  int64_t columns = 0;  // of b and y
  MatrixStrides a, b, y;
  double scale = 1;
};

/// A dense row-major product.
constexpr Product DenseProduct(int64_t rows, int64_t inner, int64_t columns) {
  return {.rows = rows,
          .inner = inner,
          .columns = columns,
          .a = {inner, 1},
          .b = {columns, 1},
          .y = {columns, 1}};
}

/// The product that takes (dy, b) to da, and the one that takes (a, dy) to db.
constexpr Product ForA(const Product& p) {
  return {.rows = p.rows,
          .inner = p.columns,
          .columns = p.inner,
          .a = p.y,
          .b = p.b.Transposed(),
          .y = p.a,
          .scale = p.scale};
}
constexpr Product ForB(const Product& p) {
  return {.rows = p.inner,
          .inner = p.rows,
          .columns = p.columns,
          .a = p.a.Transposed(),
          .b = p.y,
          .y = p.b,
          .scale = p.scale};
}

}  // namespace assay::reference
