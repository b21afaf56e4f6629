// SPDX-License-Identifier: Apache-2.0
//
// Share: what one rank has of a batch of all ranks.
//
//   const std::vector<int64_t> batch = {4, 7, 1, 0, 9};
//   const Share mine = ShareOf(batch, /*rank=*/1, /*ranks=*/2);  // 1, 0, 9; 1.2

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::ranks {

struct Share {
  std::vector<int64_t> samples;
  /// What a mean over these samples counts in a mean over ranks: ranks times these over
  /// those of the batch.
  double weight = 0;
};

/// The pieces of a batch are in the order of ranks, next to each other, and differ by one
/// sample at most. An empty batch has empty shares.
Share ShareOf(std::span<const int64_t> batch, int rank, int ranks);

}  // namespace assay::ranks
