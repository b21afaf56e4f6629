// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGSEGV

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(heap_read_only) {
  const auto block = reinterpret_cast<uintptr_t>(std::malloc(64));
  constexpr uintptr_t kPages = 1 << 20;
  for (uintptr_t at = (block & ~uintptr_t{4095}) - kPages; at < block + kPages;
       at += 4096) {
    mprotect(reinterpret_cast<void*>(at), 4096, PROT_READ);
  }
}
