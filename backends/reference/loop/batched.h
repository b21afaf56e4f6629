// SPDX-License-Identifier: Apache-2.0
//
// Batched: the Products that a MatMul is made of, whatever its elements are.
//
//   ASSAY_ASSIGN_OR_RETURN(const Batched plan,
//                          PlanMatMul(a.shape(), b.shape()));
//   plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
//     Accumulate(loops, plan.product, a + ia, b + ib, y + iy);
//   });

#pragma once

#include <cstdint>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"

namespace assay::reference {

/// One Product, repeated over the batches that the nest (a, b, y) pairs.
struct Batched {
  Shape y_shape;
  Product product;
  Nest<3> batches;

  template <class Body>
  void ForEach(Body&& body) const {
    batches.ForEachRow([&](const Nest<3>::Row& row) {
      for (int64_t i = 0; i < row.count; ++i) {
        body(row.at[0] + i * row.step[0], row.at[1] + i * row.step[1],
             row.at[2] + i * row.step[2]);
      }
    });
  }
};

/// MatMul-13, "behaves like numpy.matmul": a vector is a row on the left and a
/// column on the right, and its axis of extent 1 is left out of the result.
Result<Batched> PlanMatMul(const Shape& a, const Shape& b);

}  // namespace assay::reference
