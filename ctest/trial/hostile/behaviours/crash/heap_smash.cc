// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGABRT

#include <cstdlib>
#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(heap_smash) {
  char* block = hostile::Opaque(static_cast<char*>(std::malloc(2000)));
  char* next = hostile::Opaque(static_cast<char*>(std::malloc(2000)));
  std::memset(hostile::Opaque(block), 0x41, 2100);
  std::free(next);
  std::free(block);
}
