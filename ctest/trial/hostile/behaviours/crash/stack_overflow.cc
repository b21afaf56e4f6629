// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGSEGV

#include "ctest/trial/hostile/misdeed.h"

namespace {
int Deeper(int depth) {
  volatile unsigned char page[4096];
  page[0] = static_cast<unsigned char>(depth);
  if (hostile::Opaque(depth) < 0) return page[0];
  return Deeper(hostile::Opaque(depth + 1)) + page[0];
}
}  // namespace

ASSAY_MISDEED(stack_overflow) { hostile::Opaque(Deeper(0)); }
