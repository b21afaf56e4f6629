// SPDX-License-Identifier: Apache-2.0
//
// Accumulate: runs a Product, by the loops of an instruction set where the
// scalar has them.
//
//   Accumulate(LoopsOf<float>(load), product, a, b, y);

#pragma once

#include <cstdint>

#include "backends/reference/loop/product.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/scalar/factors.h"
#include "backends/reference/scalar/var.h"

namespace assay::reference {

/// Adds the product to y, which must not overlap a or b. Made for float,
/// double, int64_t, uint64_t and Var. Empty extents are permitted.
template <class T>
void Accumulate(const SimdLoops<T>* loops, const Product& product, const T* a,
                const T* b, T* y);

/// For the scalar that records, whose product is one block of its tape
/// (tape/tape.cc).
void Accumulate(const SimdLoops<Var>* loops, const Product& product,
                const VarMatrix& a, const VarMatrix& b, Var* y);
template <>
void Accumulate(const SimdLoops<Var>* loops, const Product& product,
                const Var* a, const Var* b, Var* y);

/// The terms one by one, in an order that reads b and y along rows.
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

}  // namespace assay::reference
