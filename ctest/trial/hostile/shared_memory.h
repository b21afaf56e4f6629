// SPDX-License-Identifier: Apache-2.0
//
// The memory that a module's host shares with the judge.
//
//   for (const hostile::Range& range : hostile::SharedMemory()) ...

#pragma once

#include <cstdio>
#include <vector>

#include "ctest/trial/hostile/attempt.h"

namespace hostile {

struct Range {
  unsigned char* start = nullptr;
  size_t bytes = 0;
};

/// The memory files that this process has mapped.
inline std::vector<Range> SharedMemory() {
  std::vector<Range> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    if (line.find("memfd:") != std::string::npos &&
        std::sscanf(line.c_str(), "%lx-%lx", &start, &end) == 2) {
      ranges.push_back({reinterpret_cast<unsigned char*>(start), end - start});
    }
  }
  return ranges;
}

}  // namespace hostile
