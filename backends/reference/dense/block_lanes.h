// SPDX-License-Identifier: Apache-2.0
//
// Lanes: draws of what the errors of a number may be (exact/sampled.h), carried
// through a block as products of dense matrices.
//
//   const CarriedErrors carried =
//       ReplayWithLanes(block, input, lanes, numbers);

#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

inline constexpr size_t kLaneCount = 8;
using Lanes = std::array<double, kLaneCount>;

/// By element of a block.
struct CarriedErrors {
  /// Units of its own roundings, and of what errors of both factors do
  /// together.
  std::vector<double> own;
  std::vector<bool> lost;  // a factor or y is unknown
};

/// As ReplayBlock, with about the same charges. The lanes of the results become
/// what those of the factors and of y do. `lanes` and `numbers` are by node;
/// factors without nodes are exact.
CarriedErrors ReplayWithLanes(const Block& block,
                              const InputOf<Charged<Charge::kBound>>& input,
                              Lanes* lanes,
                              std::vector<Charged<Charge::kBound>>& numbers);
CarriedErrors ReplayWithLanes(
    const Block& block, const InputOf<Charged<Charge::kBound, Quad>>& input,
    Lanes* lanes, std::vector<Charged<Charge::kBound, Quad>>& numbers);

}  // namespace assay::reference
