// SPDX-License-Identifier: Apache-2.0
//
// ChargedLoops: the loops of charged_product.h over one packed tile, compiled
// once for each instruction set from one source (charged_loops.cc).
//
//   const ChargedLoops& loops = ChargedLoopsFor(BestIsa());
//   loops.At({.charge = Charge::kHard, .left_has_units = true})(tile);
//
// The objects are isolated as those of simd.h are. Every instruction set gives
// the same bits: each operation is rounded, in one order.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/reference/loop/simd.h"
#include "backends/reference/number/charged.h"

namespace assay::reference {

/// The factor of a row, which meets all columns of a tile.
struct ChargedFactor {
  double value = 0;
  double units = 0;
  double own = 0;    // charge of a product over its size; 0 for an exact 1
  double error = 0;  // Charged::Error()
};

/// sums += left right. Matrices are dense and row-major; a tile has the rows
/// and columns of its ChargedLoops.
struct ChargedTile {
  int64_t inner = 0;
  const ChargedFactor* left = nullptr;  // inner x rows
  const double* right = nullptr;  // inner x 2 x columns: values, then units
  double* values = nullptr;       // rows x columns
  double* units = nullptr;
};

/// The facts about a tile that spare its loop work.
struct ChargedCase {
  Charge charge = Charge::kCondition;
  bool left_has_units = false;
  bool right_has_units = false;
  /// Exact numbers meet, none of them 0, and what they round is counted.
  bool may_be_exact = false;

  constexpr size_t index() const {
    return ((static_cast<size_t>(charge) * 2 + left_has_units) * 2 +
            right_has_units) *
               2 +
           may_be_exact;
  }
  static constexpr ChargedCase FromIndex(size_t index) {
    return {static_cast<Charge>(index / 8), (index & 4) != 0, (index & 2) != 0,
            (index & 1) != 0};
  }
};
inline constexpr size_t kChargedCases = 24;

struct ChargedLoops {
  using Loop = void (*)(const ChargedTile& tile);

  Loop At(const ChargedCase& at) const { return loops[at.index()]; }

  int64_t rows = 0;
  int64_t columns = 0;
  std::array<Loop, kChargedCases> loops;
};

const ChargedLoops& ChargedLoopsFor(Isa isa);

}  // namespace assay::reference
