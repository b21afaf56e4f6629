// SPDX-License-Identifier: Apache-2.0
//
// PairLoops for one instruction set: compiled several times, each with other
// flags and another ASSAY_SIMD_ENTRY. Nothing here may run while the module is
// loaded, nor be seen by other objects (CMakeLists.txt).

#include "backends/reference/dense/pair_loops.h"

#include <algorithm>
#include <utility>

#include "backends/reference/dense/vectors.h"

namespace assay::reference {
namespace {

constexpr size_t kVectors = 2;
constexpr size_t kColumns = kVectors * kLanes;

// The weights of the magnitude, and the error that one unit of it stands for,
// as pair_product.h proves them.
constexpr double kOfLow = 0x1p53;
constexpr double kOfProduct = 1;
constexpr double kOfProductOfPairs = 2.5;
constexpr double kOfSmallProduct = 0x1p-848;

void And(Answer* to, Mask mask) {
  double* at = reinterpret_cast<double*>(to);
  Store(at, KeptWhere(mask, Load(at)));
}
void Or(Answer* to, Mask mask) {
  double* at = reinterpret_cast<double*>(to);
  Store(at, std::bit_cast<Vector>(mask | std::bit_cast<Mask>(Load(at))));
}

template <bool kHasLow>
void PackWith(const PairRow& row) {
  double* to = row.panels;
  for (int64_t at = 0; at < row.columns; at += kColumns) {
    for (size_t k = 0; k < kVectors; ++k) {
      const auto lane = static_cast<int64_t>(k * kLanes);
      __builtin_prefetch(row.high + at + lane + row.ahead);
      const Vector high = Load(row.high + at + lane);
      Vector low{};
      Store(to + lane, high);
      if constexpr (kHasLow) {
        __builtin_prefetch(row.low + at + lane + row.ahead);
        low = Load(row.low + at + lane);
        Store(to + kColumns + lane, low);
      }
      And(row.is_known + at + lane, IsKnownPair(Abs(high), Abs(low)));
      Or(row.is_small + at + lane, IsSmallFactor(Abs(high)));
    }
    to += row.panel_step;
  }
}
void Pack(const PairRow& row) {
  row.low == nullptr ? PackWith<false>(row) : PackWith<true>(row);
}

// The running sum is high + low. The others are sums of sizes.
struct Sum {
  Vector high, low;
  Vector products, lows;
};

template <PairCase kCase>
struct TileLoop {
  static constexpr size_t kParts = kCase.right_has_low ? 2 : 1;
  static constexpr double kWeight = kCase.left_has_low && kCase.right_has_low
                                        ? kOfProductOfPairs
                                        : kOfProduct;

  struct Factor {
    Vector high, low;
  };
  static Factor LeftAt(const PairTile& tile, int64_t term) {
    const int64_t at = term * tile.left_step;
    Factor x = {tile.left_high[at] + Vector{}, Vector{}};
    if constexpr (kCase.left_has_low) x.low += tile.left_low[at];
    return x;
  }
  static Factor RightAt(const double* right) {
    Factor y = {Load(right), Vector{}};
    if constexpr (kCase.right_has_low) y.low = Load(right + kColumns);
    return y;
  }

  static void Add(const Factor& x, const Factor& y, Sum& sum) {
    const Vector product = x.high * y.high;
    Vector rest = RoundedOff(x.high, y.high, product);
    if constexpr (kCase.may_be_small) {
      const Mask is_small = Abs(product) < kSmallProduct;
      rest = KeptWhere(~is_small, rest);
      sum.products += KeptWhere(is_small & (x.high != 0) & (y.high != 0),
                                kOfSmallProduct / kWeight + Vector{});
    }
    if constexpr (kCase.left_has_low && kCase.right_has_low) {
      rest += x.high * y.low + x.low * y.high;
    } else if constexpr (kCase.right_has_low) {
      rest += x.high * y.low;
    } else if constexpr (kCase.left_has_low) {
      rest += x.low * y.high;
    }
    const Vector total = sum.high + product;
    sum.low += RoundedOffSum(sum.high, product, total) + rest;
    sum.high = total;
    sum.products += Abs(product);
    sum.lows += Abs(sum.low);
  }

  // Makes a pair of it again, exactly.
  static void Renew(Sum& sum) {
    const Vector total = sum.high + sum.low;
    sum.low = RoundedOffSum(sum.high, sum.low, total);
    sum.high = total;
  }

  static void Run(const PairTile& tile) {
    std::array<Sum, kVectors> sums;
    for (size_t k = 0; k < kVectors; ++k) {
      sums[k] = {Load(tile.high + k * kLanes), Load(tile.low + k * kLanes),
                 Vector{}, Vector{}};
    }
    const double* right = tile.right;
    for (int64_t term = 0; term < tile.inner;) {
      for (Sum& sum : sums) sum.lows += Abs(sum.low);
      const int64_t end = std::min(term + kPairStretch, tile.inner);
      for (; term < end; ++term) {
        const Factor x = LeftAt(tile, term);
        for (size_t k = 0; k < kVectors; ++k) {
          Add(x, RightAt(right + k * kLanes), sums[k]);
        }
        right += kParts * kColumns;
      }
      for (Sum& sum : sums) Renew(sum);
    }
    for (size_t k = 0; k < kVectors; ++k) {
      Store(tile.high + k * kLanes, sums[k].high);
      Store(tile.low + k * kLanes, sums[k].low);
      double* magnitude = tile.magnitude + k * kLanes;
      Store(magnitude, Load(magnitude) + (sums[k].products * kWeight +
                                          sums[k].lows * kOfLow));
    }
  }
};

template <size_t... kIndex>
constexpr PairLoops AllLoops(std::index_sequence<kIndex...>) {
  return {static_cast<int64_t>(kColumns),
          &Pack,
          {&TileLoop<PairCase::FromIndex(kIndex)>::Run...}};
}

}  // namespace
}  // namespace assay::reference

extern "C" const assay::reference::PairLoops* ASSAY_SIMD_ENTRY();

const assay::reference::PairLoops* ASSAY_SIMD_ENTRY() {
  using namespace assay::reference;
  static constexpr PairLoops kLoops =
      AllLoops(std::make_index_sequence<kPairCases>());
  return &kLoops;
}
