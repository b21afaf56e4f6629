// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: over the memory limit of
// Memory: 0.25

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

// Shared pages are no process' own, and RLIMIT_DATA does not count them.
ASSAY_MISDEED(memory_shared) {
  constexpr size_t kPiece = 16 << 20;
  for (int piece = 0; piece < 64; ++piece) {  // at most 1 GiB
    void* const at = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) std::memset(at, 1, kPiece);
    usleep(10'000);
  }
  while (hostile::Opaque(1) == 1) pause();
}
