// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: over the memory limit of
// Memory: 0.25

#include <unistd.h>

#include <cstring>
#include <vector>

#include "ctest/trial/hostile/misdeed.h"

// Each child keeps below the limit, and all of them together do not.
ASSAY_MISDEED(memory_children) {
  for (int child = 0; child < 8; ++child) {
    if (fork() != 0) continue;
    std::vector<char> kept(128 << 20);
    std::memset(kept.data(), 1, kept.size());
    while (hostile::Opaque(kept.data()) != nullptr) pause();
  }
  while (hostile::Opaque(1) == 1) pause();
}
