// SPDX-License-Identifier: Apache-2.0
//
// ChargedLoops for one instruction set: compiled several times, each with other
// flags and another ASSAY_SIMD_ENTRY. Nothing here may run while the module is
// loaded, nor be seen by other objects (CMakeLists.txt).

#include "backends/reference/dense/charged_loops.h"

#include <bit>
#include <utility>

namespace assay::reference {
namespace {

#if defined(__AVX512F__)
constexpr size_t kLanes = 8;
constexpr size_t kRows = 4;
#elif defined(__AVX2__)
constexpr size_t kLanes = 4;
constexpr size_t kRows = 2;
#else
constexpr size_t kLanes = 2;
constexpr size_t kRows = 2;
#endif
constexpr size_t kVectors = 2;
constexpr size_t kColumns = kVectors * kLanes;

using Vector [[gnu::vector_size(kLanes * sizeof(double))]] = double;
using Mask [[gnu::vector_size(kLanes * sizeof(int64_t))]] = int64_t;
using Bits [[gnu::vector_size(kLanes * sizeof(uint64_t))]] = uint64_t;
// In memory, where an element lies as its own type asks.
using Unaligned [[gnu::vector_size(kLanes * sizeof(double)),
                  gnu::aligned(alignof(double)), gnu::may_alias]] = double;

Vector Load(const double* from) {
  return *reinterpret_cast<const Unaligned*>(from);
}
void Store(double* to, Vector x) { *reinterpret_cast<Unaligned*>(to) = x; }
Vector Abs(Vector x) {
  return std::bit_cast<Vector>(std::bit_cast<Mask>(x) & INT64_MAX);
}
Vector KeptWhere(Mask mask, Vector x) {
  return std::bit_cast<Vector>(mask & std::bit_cast<Mask>(x));
}

// The upper 26 bits, rounded: the rest has as many, and a sign.
Vector UpperHalf(Vector x) {
  const Bits rounded = std::bit_cast<Bits>(x) + (uint64_t{1} << 26);
  return std::bit_cast<Vector>(rounded & ~((uint64_t{1} << 27) - 1));
}

// a b - product, where nothing overflows or is below the normal numbers: Dekker
// (1971), A floating-point technique for extending the available precision.
Vector RoundedOff(Vector a, Vector b, Vector product) {
  const Vector upper_a = UpperHalf(a);
  const Vector upper_b = UpperHalf(b);
  const Vector lower_a = a - upper_a;
  const Vector lower_b = b - upper_b;
  return ((upper_a * upper_b - product) + upper_a * lower_b +
          lower_a * upper_b) +
         lower_a * lower_b;
}

// a + b - total: Knuth's TwoSum, as IsExact has it.
Vector RoundedOffSum(Vector a, Vector b, Vector total) {
  const Vector of_b = total - a;
  return (a - (total - of_b)) + (b - of_b);
}

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
    Vector all = sum.units + units;
    if constexpr (kCase.charge != Charge::kCondition) {
      // An exact 0 adds nothing that would be rounded.
      Mask rounds = (Abs(sum.value) + sum.units != 0) & (size + units != 0);
      if constexpr (kCase.may_be_exact) {
        rounds &= (sum.units + units != 0) |
                  (RoundedOffSum(sum.value, product, total) != 0);
      }
      all += KeptWhere(rounds, Abs(total) * kOver);
    }
    sum = {total, all};
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
