// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include <cstring>
#include <vector>

#include "ctest/trial/hostile/shared_memory.h"

// A child that goes on writing to what it shares with the judge.
ASSAY_MISDEED(child_writes) {
  const std::vector<hostile::Range> shared = hostile::SharedMemory();
  if (shared.empty()) return;
  if (fork() != 0) {
    usleep(20'000);  // until it does
    return;
  }
  constexpr size_t kPart = 1 << 16;  // what is used first
  while (hostile::Opaque(1) == 1) std::memset(shared[0].start, 0xA5, kPart);
}
