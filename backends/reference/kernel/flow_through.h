// SPDX-License-Identifier: Apache-2.0
//
// FlowThrough: what flows into a Product (loop/product.h), on to its factors.
//
//   const FlowThrough<T> through(loops, b);       // the other factor, as a whole
//   through.ToA(product, dy, b.data(), da);       // da += dy b^T
//
// Where nothing flows, the other factor has no say: 0 * infinity would be NaN.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {

template <class T>
class FlowThrough {
 public:
  /// `other` is the tensor of the factor that is multiplied with.
  FlowThrough(const SimdLoops<T>* loops, const Loaded<T>& other)
      : loops_(loops),
        is_finite_(std::all_of(other.data(), other.data() + other.size(),
                               [](T x) { return std::isfinite(x); })) {}

  /// `product` is that of the run, a b.
  void ToA(const Product& product, const T* dy, const T* b, T* da) const {
    Add(ForA(product), dy, b, da, /*a_flows=*/true);
  }
  void ToB(const Product& product, const T* a, const T* dy, T* db) const {
    Add(ForB(product), a, dy, db, /*a_flows=*/false);
  }

 private:
  void Add(const Product& p, const T* a, const T* b, T* y, bool a_flows) const {
    if (is_finite_) {
      Accumulate(loops_, p, a, b, y);
      return;
    }
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t t = 0; t < p.inner; ++t) {
        const T left = a[i * p.a.row + t * p.a.column];
        for (int64_t j = 0; j < p.columns; ++j) {
          const T right = b[t * p.b.row + j * p.b.column];
          if ((a_flows ? left : right) == T(0)) continue;
          y[i * p.y.row + j * p.y.column] += T(p.scale) * left * right;
        }
      }
    }
  }

  const SimdLoops<T>* loops_;
  bool is_finite_;
};

}  // namespace assay::reference
