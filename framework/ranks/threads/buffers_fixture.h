// SPDX-License-Identifier: Apache-2.0
//
// Buffers of ranks for tests.

#pragma once

#include <cstdint>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::ranks {

inline constexpr Operation kOperations[] = {
    Operation::kBarrier,   Operation::kBroadcast,     Operation::kReduce,
    Operation::kAllReduce, Operation::kGather,        Operation::kScatter,
    Operation::kAllGather, Operation::kReduceScatter, Operation::kAllToAll};

/// A buffer of numbers for each rank, the same each time.
inline std::vector<Tensor> Buffers(const Collective& what) {
  core::Numbers numbers(5);
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < what.ranks; ++rank) {
    std::vector<float> buffer;
    for (int64_t i = 0; i < ElementsOf(what); ++i) {
      buffer.push_back(static_cast<float>(numbers.Share() - 0.5));
    }
    buffers.push_back(Floats(buffer));
  }
  return buffers;
}

}  // namespace assay::ranks
