// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/product.h"

// Threads belong to the caller, who measures one backend at a time.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace assay::reference {
namespace {

template <class T, int kOrder>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>;

// Eigen's fast path wants one unit stride, known at compile time.
template <class T, int kOrder>
auto View(T* data, int64_t rows, int64_t columns, MatrixStrides strides) {
  constexpr bool kRows = kOrder == Eigen::RowMajor;
  using Plain = Matrix<std::remove_const_t<T>, kOrder>;
  using Held = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Held, 0, Eigen::OuterStride<>>(
      data, rows, columns,
      Eigen::OuterStride<>(kRows ? strides.row : strides.column));
}

template <class T, int kA, int kB>
void Multiply(const Product& p, const T* a, const T* b, T* y) {
  View<T, Eigen::RowMajor>(y, p.rows, p.columns, p.y).noalias() +=
      static_cast<T>(p.scale) * (View<const T, kA>(a, p.rows, p.inner, p.a) *
                                 View<const T, kB>(b, p.inner, p.columns, p.b));
}

template <class T, int kA>
void MultiplyOrdered(const Product& p, const T* a, const T* b, T* y) {
  if (p.b.column == 1) {
    Multiply<T, kA, Eigen::RowMajor>(p, a, b, y);
  } else {
    Multiply<T, kA, Eigen::ColMajor>(p, a, b, y);
  }
}

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

// Whether the matrix is a view that Eigen maps: a unit stride on one axis. A
// single row or column may have any stride along itself that is not used.
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
void Accumulate(const Product& p, const T* a, const T* b, T* y) {
  if (p.y.column != 1 && p.y.row == 1) {  // y^T += b^T a^T
    Accumulate({.rows = p.columns,
                .inner = p.inner,
                .columns = p.rows,
                .a = p.b.Transposed(),
                .b = p.a.Transposed(),
                .y = p.y.Transposed(),
                .scale = p.scale},
               b, a, y);
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (p.y.column == 1 && HasUnitStride(p.a) && HasUnitStride(p.b)) {
      if (p.a.column == 1) {
        MultiplyOrdered<T, Eigen::RowMajor>(p, a, b, y);
      } else {
        MultiplyOrdered<T, Eigen::ColMajor>(p, a, b, y);
      }
      return;
    }
  }
  MultiplyPlainly(p, a, b, y);
}

template void Accumulate(const Product&, const float*, const float*, float*);
template void Accumulate(const Product&, const double*, const double*, double*);
template void Accumulate(const Product&, const int64_t*, const int64_t*,
                         int64_t*);
template void Accumulate(const Product&, const uint64_t*, const uint64_t*,
                         uint64_t*);

}  // namespace assay::reference
