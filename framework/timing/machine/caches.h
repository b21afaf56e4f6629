// SPDX-License-Identifier: Apache-2.0
//
// The caches for data of a machine's first processor: how much of memory is
// near.
//
//   for (const Cache& cache : CachesOf("/")) sum += cache.bytes;

#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace assay::machine {

struct Cache {
  int64_t level = 0;
  int64_t bytes = 0;
  int64_t processors = 1;  // that share it

  bool operator==(const Cache&) const = default;
};

/// Those of the machine whose sys lies below `root`, the nearest first. None
/// where no file tells: a size that is not there or no number is no cache.
std::vector<Cache> CachesOf(const std::filesystem::path& root);

}  // namespace assay::machine
