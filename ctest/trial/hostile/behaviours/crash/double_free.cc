// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGABRT

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(double_free) {
  void* block = std::malloc(64);
  std::free(hostile::Opaque(block));
  std::free(hostile::Opaque(block));
}
