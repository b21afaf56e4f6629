// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a tape in passes with bounded numbers of 113 bits. One of many
// products is summed in pairs of doubles (pair_product.h), in far less time and
// to nine bits less, which its bound counts.
//
//   if (const auto sums = ProductInPairs(block, numbers)) Use(sums->values);

#pragma once

#include <optional>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

using BoundedQuad = Charged<Charge::kBound, Quad>;

/// True for a block of so many products that pairs are worth it.
inline bool IsForPairs(const Block& block) {
  return block.rows * block.columns >= 1 &&
         block.inner >= (int64_t{1} << 16) / (block.rows * block.columns);
}

/// By element of a block.
struct PairSums {
  std::vector<Quad> values;
  std::vector<double> own;  // units of their own roundings
};

/// None where a number is out of range. `numbers` are by node; factors without
/// nodes are exact.
std::optional<PairSums> ProductInPairs(const Block& block,
                                       const std::vector<BoundedQuad>& numbers);

/// ReplayBlock in pairs; false, and nothing done, where it has no sums. Unknown
/// is what a factor that is unknown comes into, be it times 0.
bool ReplayInPairs(const Block& block, std::vector<BoundedQuad>& numbers);

}  // namespace assay::reference
