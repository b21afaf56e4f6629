// SPDX-License-Identifier: Apache-2.0
//
// Accumulate: runs a Product, by the loops of an instruction set where the
// scalar has them; and Batched, the Products that a MatMul is made of.

#pragma once

#include <array>
#include <cstdint>

#include "backends/reference/loop/nest.h"
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

/// Adds kTerms terms from `term` on to a row of y.
template <int64_t kTerms, class T>
void AddTerms(const Product& p, int64_t row, int64_t term, const T* a,
              const T* b, T* y) {
  std::array<T, kTerms> factors;
  for (int64_t k = 0; k < kTerms; ++k) {
    factors[static_cast<size_t>(k)] =
        T(p.scale) * a[row * p.a.row + (term + k) * p.a.column];
  }
  for (int64_t j = 0; j < p.columns; ++j) {
    T sum = y[row * p.y.row + j * p.y.column];
    for (int64_t k = 0; k < kTerms; ++k) {
      sum += factors[static_cast<size_t>(k)] *
             b[(term + k) * p.b.row + j * p.b.column];
    }
    y[row * p.y.row + j * p.y.column] = sum;
  }
}

/// The terms one by one, in an order that reads b and y along rows.
template <class T>
void MultiplyPlainly(const Product& p, const T* a, const T* b, T* y) {
  constexpr int64_t kAtOnce = 8;
  for (int64_t i = 0; i < p.rows; ++i) {
    int64_t t = 0;
    for (; t + kAtOnce <= p.inner; t += kAtOnce) {
      AddTerms<kAtOnce>(p, i, t, a, b, y);
    }
    for (; t < p.inner; ++t) AddTerms<1>(p, i, t, a, b, y);
  }
}

/// One Product, repeated over the batches that the nest (a, b, y) pairs.
struct Batched {
  Shape y_shape;
  Product product;
  Nest<3> batches;

  template <class Body>
  void ForEach(Body&& body) const {
    batches.ForEach(body);
  }
};

/// MatMul-13, "behaves like numpy.matmul": a vector is a row on the left and a
/// column on the right, and its axis of extent 1 is left out of the result.
Result<Batched> PlanMatMul(const Shape& a, const Shape& b);

}  // namespace assay::reference
