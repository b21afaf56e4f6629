// SPDX-License-Identifier: Apache-2.0
//
// PairMatrix: a dense matrix of numbers of about 106 bits.
//
//   PairMatrix third(1, 1);
//   third.high = {1.0 / 3};
//   third.low = {std::fma(-3, third.high[0], 1) / 3};

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// The greatest number that products take.
inline constexpr double kGreatestPair = 0x1p400;

/// True for a pair within the range, by the sizes of its numbers; of a vector
/// of them, lane by lane.
template <class Size>
auto IsKnownPair(const Size& high, const Size& low) {
  return (high <= kGreatestPair) & (low * 0x1p53 <= high);
}

}  // namespace assay::reference
