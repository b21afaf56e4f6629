// SPDX-License-Identifier: Apache-2.0
//
// AddProducts: a product of dense matrices of charged numbers, by loops for the
// instruction set of the processor. It gives what AddProduct gives one by one,
// in less than a tenth of its time where numbers are finite and not minute.
//
//   ChargedMatrix y(2, 3);
//   AddProducts<Charge::kHard>(a, b, y);                     // y  += a b
//   AddProducts<Charge::kHard>(b.View(), dy.View().Transposed(),
//                              da.Sums().Transposed(),
//                              ZeroFactors::kSkip);          // da += dy b^T
//   AddProducts<Charge::kHard>(a.View().Transposed(), dy.View(), db.Sums(),
//                              ZeroFactors::kSkip);          // db += a^T dy

#pragma once

#include <cstdint>
#include <vector>

#include "backends/reference/loop/product.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/number/charged.h"

namespace assay::reference {

/// A matrix of charged numbers that somebody else holds. Both arrays have the
/// same strides; a null `units` stands for all exact.
template <class Number>
struct ChargedViewOf {
  Number* values = nullptr;
  Number* units = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  MatrixStrides strides;

  ChargedViewOf Transposed() const {
    return {values, units, columns, rows, strides.Transposed()};
  }
  int64_t Offset(int64_t row, int64_t column) const {
    return row * strides.row + column * strides.column;
  }
  template <Charge kCharge>
  Charged<kCharge> At(int64_t row, int64_t column) const {
    const int64_t at = Offset(row, column);
    return {values[at], units == nullptr ? 0 : units[at]};
  }
};
using ChargedView = ChargedViewOf<const double>;
using ChargedSums = ChargedViewOf<double>;  // `units` is not null

/// A dense row-major matrix of charged numbers; `units` is empty where all are
/// exact.
struct ChargedMatrix {
  ChargedMatrix() = default;
  ChargedMatrix(int64_t of_rows, int64_t of_columns);

  ChargedView View() const;
  /// To add to; gives each number its units.
  ChargedSums Sums();

  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;
  std::vector<double> units;
};

/// The treatment of an exact 0 in b.
enum class ZeroFactors : uint8_t {
  kMultiply,
  kSkip,  // as Reverse: it has no say, also against an infinity
};

/// y[i, j] = AddProduct(y[i, j], a[i, t], b[t, j]) for all t, in their order:
/// bit for bit in every instruction set, but for the bits of what is no number.
/// y shares no memory with a and b. The instruction set must be available.
template <Charge kCharge>
void AddProducts(const ChargedView& a, const ChargedView& b,
                 const ChargedSums& y,
                 ZeroFactors zeros = ZeroFactors::kMultiply,
                 Isa isa = BestIsa());
template <Charge kCharge>
void AddProducts(const ChargedMatrix& a, const ChargedMatrix& b,
                 ChargedMatrix& y) {
  AddProducts<kCharge>(a.View(), b.View(), y.Sums());
}

}  // namespace assay::reference
