// SPDX-License-Identifier: Apache-2.0
//
// Levels of memory: the caches and what is behind them, the working sets that
// lie in each, and those that a roof of it is measured with.
//
//   const auto levels = LevelsOf(machine::CachesOf("/"), /*threads=*/1);
//   const Level* level = LevelFor(levels, bytes);   // null: in none wholly
//
// A working set lies in a cache that holds it, and in memory where it is more
// than four times the last cache. Between those it lies in both, and has no
// roof.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/timing/machine/caches.h"

namespace assay::roofs {

struct Level {
  std::string name;   // "L1", "memory"
  int64_t least = 0;  // bytes of a working set that lies in it
  int64_t most = 0;
  int64_t probed = 0;  // bytes of each thread's roof; 0: none is measured
  std::string none;    // why none is
};

/// Those of so many threads, the nearest first; none where no cache is known. A
/// thread's roof is measured with half of its share of a cache, and with eight
/// times the cache before at most: on a shared machine the rest of a great one
/// is others'. The roof of memory takes four times the last cache, all threads
/// together, or is not measured where that is more than `most_memory`.
std::vector<Level> LevelsOf(std::span<const machine::Cache> caches,
                            int64_t threads,
                            int64_t most_memory = int64_t{1} << 29);

/// Null where no level has the whole working set.
const Level* LevelFor(std::span<const Level> levels, int64_t bytes);

}  // namespace assay::roofs
