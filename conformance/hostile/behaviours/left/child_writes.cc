// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "conformance/hostile/misdeed.h"

// A child that goes on writing to all memory that it shares with the judge.
ASSAY_MISDEED(child_writes) {
  if (fork() != 0) {
    usleep(20'000);  // until it does
    return;
  }
  FILE* const maps = std::fopen("/proc/self/maps", "r");
  unsigned char* memory = nullptr;
  size_t bytes = 0;
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0;
    unsigned long end = 0;
    if (std::strstr(line, "memfd:") == nullptr) continue;
    if (std::sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    memory = reinterpret_cast<unsigned char*>(start);
    bytes = end - start;
    break;
  }
  constexpr size_t kMost = 1 << 16;
  while (memory != nullptr && hostile::Opaque(1) == 1) {
    std::memset(memory, 0xA5, bytes < kMost ? bytes : kMost);
  }
  _exit(0);
}
