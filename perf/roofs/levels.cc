// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/levels.h"

#include <algorithm>
#include <limits>

#include "framework/core/text.h"

namespace assay::roofs {
namespace {

/// A working set beyond so many times the last cache is not in it.
constexpr int64_t kBeyond = 4;
/// The roof of a cache is measured with so many times the one before at most.
constexpr int64_t kAboveInner = 8;

std::string Mebibytes(int64_t bytes) { return StrCat(bytes >> 20, " MiB"); }

Level MemoryBehind(int64_t last, int64_t threads, int64_t most_memory) {
  Level memory = {.name = "memory",
                  .least = kBeyond * last + 1,
                  .most = std::numeric_limits<int64_t>::max()};
  if (kBeyond * last <= most_memory) {
    memory.probed = kBeyond * last / threads;
  } else {
    memory.none = StrCat("four times the last cache of ", Mebibytes(last),
                         " is more than the ", Mebibytes(most_memory),
                         " that a roof may take");
  }
  return memory;
}

}  // namespace

std::vector<Level> LevelsOf(std::span<const machine::Cache> caches,
                            int64_t threads, int64_t most_memory) {
  std::vector<Level> levels;
  int64_t inner = 0;  // bytes of the cache before, a thread's
  for (const machine::Cache& cache : caches) {
    const int64_t sharing = std::min(threads, cache.processors);
    const int64_t used = (threads + cache.processors - 1) / cache.processors;
    int64_t probed = cache.bytes / sharing / 2;
    if (inner > 0) probed = std::min(probed, kAboveInner * inner);
    levels.push_back({.name = StrCat("L", cache.level),
                      .least = levels.empty() ? 0 : levels.back().most + 1,
                      .most = cache.bytes * used,
                      .probed = probed});
    inner = cache.bytes / sharing;
  }
  if (levels.empty()) return levels;
  levels.push_back(MemoryBehind(levels.back().most, threads, most_memory));
  return levels;
}

const Level* LevelFor(std::span<const Level> levels, int64_t bytes) {
  const auto found = std::ranges::find_if(levels, [&](const Level& level) {
    return level.least <= bytes && bytes <= level.most;
  });
  return found == levels.end() ? nullptr : &*found;
}

}  // namespace assay::roofs
