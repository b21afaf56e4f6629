// SPDX-License-Identifier: Apache-2.0
//
// AddProducts: a product of dense matrices in double-double arithmetic, about
// 106 bits, by loops for the instruction set of the processor. It counts what
// its roundings can have done.
//
//   PairMatrix y(a.rows, b.columns);
//   std::vector<double> magnitude(y.high.size());
//   const bool is_known = AddProducts(a, b, y, magnitude.data());
//   const double off_by = magnitude[0] * kPairError;  // y[0] from a b, at most

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/reference/loop/simd.h"

namespace assay::reference {

/// A dense row-major matrix of numbers that are each the unevaluated sum of two
/// doubles; |low| is at most 2^-53 |high|. `low` is empty where all are
/// doubles, which spares work.
struct PairMatrix {
  PairMatrix() = default;
  PairMatrix(int64_t of_rows, int64_t of_columns)
      : rows(of_rows),
        columns(of_columns),
        high(static_cast<size_t>(of_rows * of_columns)) {}

  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> high;
  std::vector<double> low;
};

/// The most that y is off by for each unit of magnitude.
inline constexpr double kPairError = 0x1p-104;

/// y[i, j] += sum over t, in order, of a[i, t] b[t, j]. Adds to magnitude[i,
/// j], row-major as y, so much that y[i, j] is off by at most kPairError times
/// that from the exact result: the sum over t of |product|, 2.5 |product| where
/// a and b have lows, and of 2^53 |what the running sum keeps in its low part|,
/// which is about |running sum|; nothing for a product with 0. A product below
/// 2^-900 that is not 0 adds 2^-848.
///
/// False where some elements are not known, those that a number beyond
/// kGreatestPair, no number or no pair is in the way of, in a row of a, a
/// column of b or y: they are no numbers, and their magnitude is infinite.
///
/// Each instruction set, which must be available, gives the same bits. y and
/// magnitude share no memory with a and b.
bool AddProducts(const PairMatrix& a, const PairMatrix& b, PairMatrix& y,
                 double* magnitude, Isa isa = BestIsa());

}  // namespace assay::reference
