// SPDX-License-Identifier: Apache-2.0
//
// ChargedLoops for one instruction set: compiled several times, each with other
// flags and another ASSAY_SIMD_ENTRY. Nothing here may run while the module is
// loaded, nor be seen by other objects (CMakeLists.txt).

#include "backends/reference/dense/charged_loops.h"

#include <utility>

#include "backends/reference/dense/vectors.h"

namespace assay::reference {
namespace {

constexpr size_t kRows = kLanes == 8 ? 4 : 2;
constexpr size_t kVectors = 2;
constexpr size_t kColumns = kVectors * kLanes;

// A vector of right factors.
struct Factors {
  Vector value, units, size;
  Mask is_not_one;  // exactly
};

struct Sums {
  Vector value, units;
};

template <ChargedCase kCase>
struct TileLoop {
  static constexpr bool kHasUnits =
      kCase.left_has_units || kCase.right_has_units;
  static constexpr bool kIsCurved = kCase.charge == Charge::kBound &&
                                    kCase.left_has_units &&
                                    kCase.right_has_units;
  static constexpr double kOver = 1 / Charged<kCase.charge>::kUnit;

  static Factors FactorsAt(const double* right) {
    Factors f = {Load(right), Vector{}, Vector{}, Mask{}};
    f.size = Abs(f.value);
    f.is_not_one = f.size != 1;
    if constexpr (kCase.right_has_units) {
      f.units = Load(right + kColumns);
      f.is_not_one |= f.units != 0;
    }
    return f;
  }

  // The charge of a product.
  static Vector UnitsOf(const ChargedFactor& left, const Factors& right,
                        Vector product, Vector size) {
    Mask rounds = right.is_not_one;
    if constexpr (kCase.may_be_exact) {
      Mask exact = RoundedOff(left.value + Vector{}, right.value, product) == 0;
      if constexpr (kCase.left_has_units) exact &= (left.units + Vector{}) == 0;
      if constexpr (kCase.right_has_units) exact &= right.units == 0;
      rounds &= ~exact;
    }
    const Vector own = KeptWhere(rounds, size * left.own);
    if constexpr (!kHasUnits) return own;
    Vector units;
    if constexpr (!kCase.right_has_units) {
      units = right.size * left.units;
    } else {
      units = Abs(left.value + Vector{}) * right.units;
      if constexpr (kCase.left_has_units) {
        units = right.size * left.units + units;
      }
    }
    if constexpr (kIsCurved) units += left.error * right.units;
    return units + own;
  }

  static void Add(const ChargedFactor& left, const Factors& right, Sums& sum) {
    const Vector product = left.value * right.value;
    const Vector size = Abs(product);
    const Vector units = UnitsOf(left, right, product, size);
    const Vector total = sum.value + product;
    // An exact 0 adds nothing that would be rounded.
    Mask rounds = (Abs(sum.value) + sum.units != 0) & (size + units != 0);
    if constexpr (kCase.charge == Charge::kCondition) {
      rounds &= (sum.units == 0) ^ (units == 0);
    }
    if constexpr (kCase.may_be_exact) {
      rounds &= (sum.units + units != 0) |
                (RoundedOffSum(sum.value, product, total) != 0);
    }
    sum = {total, sum.units + units + KeptWhere(rounds, Abs(total) * kOver)};
  }

  static void Run(const ChargedTile& tile) {
    std::array<std::array<Sums, kVectors>, kRows> sums;
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t k = 0; k < kVectors; ++k) {
        const size_t at = i * kColumns + k * kLanes;
        sums[i][k] = {Load(tile.values + at), Load(tile.units + at)};
      }
    }
    const ChargedFactor* left = tile.left;
    const double* right = tile.right;
    for (int64_t t = 0; t < tile.inner; ++t) {
      for (size_t k = 0; k < kVectors; ++k) {
        const Factors factors = FactorsAt(right + k * kLanes);
        for (size_t i = 0; i < kRows; ++i) Add(left[i], factors, sums[i][k]);
      }
      left += kRows;
      right += 2 * kColumns;
    }
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t k = 0; k < kVectors; ++k) {
        const size_t at = i * kColumns + k * kLanes;
        Store(tile.values + at, sums[i][k].value);
        Store(tile.units + at, sums[i][k].units);
      }
    }
  }
};

// Only bounds count exactness.
constexpr ChargedCase Plain(ChargedCase at) {
  at.may_be_exact = at.may_be_exact && at.charge == Charge::kBound;
  return at;
}

template <size_t... kIndex>
constexpr ChargedLoops AllLoops(std::index_sequence<kIndex...>) {
  return {kRows,
          kColumns,
          {&TileLoop<Plain(ChargedCase::FromIndex(kIndex))>::Run...}};
}

}  // namespace
}  // namespace assay::reference

extern "C" const assay::reference::ChargedLoops* ASSAY_SIMD_ENTRY();

const assay::reference::ChargedLoops* ASSAY_SIMD_ENTRY() {
  using namespace assay::reference;
  static constexpr ChargedLoops kLoops =
      AllLoops(std::make_index_sequence<kChargedCases>());
  return &kLoops;
}
