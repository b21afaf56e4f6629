// SPDX-License-Identifier: Apache-2.0
//
// Share: the samples that one rank has of a batch of all ranks.
//
//   const std::vector<int64_t> batch = {4, 7, 1, 0, 9};
//   const Share mine = ShareOf(batch, /*rank=*/1, /*ranks=*/2);
//   // mine.samples: 1, 0, 9; mine.weight: 1.2

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::ranks {

struct Share {
  std::vector<int64_t> samples;
  /// The factor of a mean over these samples in a mean over ranks: ranks *
  /// samples here / samples of the batch.
  double weight = 0;
};

/// Cuts `batch` into contiguous pieces in the order of ranks, whose sizes
/// differ by one sample at most. An empty batch has empty shares.
Share ShareOf(std::span<const int64_t> batch, int rank, int ranks);

}  // namespace assay::ranks
