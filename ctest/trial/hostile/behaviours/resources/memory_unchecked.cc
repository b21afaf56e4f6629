// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGSEGV
// Memory: 0.5

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

// As C libraries do: nobody looks whether there was memory.
ASSAY_MISDEED(memory_unchecked) {
  constexpr size_t kPiece = 16 << 20;
  while (hostile::Opaque(1) == 1) {
    auto* piece = static_cast<volatile char*>(std::malloc(kPiece));
    for (size_t i = 0; i < kPiece; i += 4096) piece[i] = 1;
  }
}
