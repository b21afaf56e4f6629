// SPDX-License-Identifier: Apache-2.0
//
// PairLoops: the loops of pair_product.h over one row of a packed tile,
// compiled once for each instruction set from one source (pair_loops.cc).
//
//   const PairLoops& loops = PairLoopsFor(BestIsa());
//   loops.At({.left_has_low = false, .right_has_low = true})(tile);
//
// The objects are isolated as those of simd.h are. Every instruction set gives
// the same bits: each operation is rounded, in one order.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/reference/loop/simd.h"

namespace assay::reference {

/// Terms after which the sums become pairs again. A block of terms that one
/// tile takes ends where such a stretch ends, in every instruction set.
inline constexpr int64_t kPairStretch = 16;

/// Products below it are not taken to their last bit; none is of two factors
/// that are not small either.
inline constexpr double kSmallProduct = 0x1p-900;
inline constexpr double kSmallFactor = 0x1p-450;
static_assert(kSmallFactor * kSmallFactor == kSmallProduct);

/// The greatest number that products take.
inline constexpr double kGreatestPair = 0x1p400;

/// True for a pair within the range, by the sizes of its numbers; of a vector
/// of them, lane by lane.
template <class Size>
auto IsKnownPair(const Size& high, const Size& low) {
  return (high <= kGreatestPair) & (low * 0x1p53 <= high);
}

/// All ones where it holds, as the lanes of a vector have it.
using Answer = int64_t;

/// By the size of a number, or of a vector of them, lane by lane.
template <class Size>
auto IsSmallFactor(const Size& high) {
  return (high < kSmallFactor) & (high != 0);
}

/// A row of the right matrix on its way into panels, of so many columns as
/// PairLoops has, and what is asked of its numbers, which adds to what was
/// asked of rows before it. `columns` is a multiple of those of a panel.
struct PairRow {
  int64_t columns = 0;
  const double* high = nullptr;
  const double* low = nullptr;  // null for zeros, which are not packed
  int64_t ahead = 0;            // doubles to the row that is fetched for later
  double* panels = nullptr;
  int64_t panel_step = 0;
  Answer* is_known = nullptr;
  Answer* is_small = nullptr;
};

/// sums += left right, of one row of sums, as many as PairLoops has columns.
struct PairTile {
  int64_t inner = 0;
  const double* left_high = nullptr;  // inner of them, `left_step` apart
  const double* left_low = nullptr;
  int64_t left_step = 1;
  const double* right = nullptr;  // inner x (highs, lows if any) x columns
  double* high = nullptr;
  double* low = nullptr;
  double* magnitude = nullptr;
};

/// The facts about a tile that spare its loop work.
struct PairCase {
  bool left_has_low = false;
  bool right_has_low = false;
  /// A product may be below kSmallProduct and not exactly 0.
  bool may_be_small = false;

  constexpr size_t index() const {
    return (static_cast<size_t>(left_has_low) * 2 + right_has_low) * 2 +
           may_be_small;
  }
  static constexpr PairCase FromIndex(size_t index) {
    return {(index & 4) != 0, (index & 2) != 0, (index & 1) != 0};
  }
};
inline constexpr size_t kPairCases = 8;

struct PairLoops {
  using Loop = void (*)(const PairTile& tile);

  Loop At(const PairCase& at) const { return loops[at.index()]; }

  int64_t columns = 0;
  void (*pack)(const PairRow& row) = nullptr;
  std::array<Loop, kPairCases> loops;
};

const PairLoops& PairLoopsFor(Isa isa);

}  // namespace assay::reference
