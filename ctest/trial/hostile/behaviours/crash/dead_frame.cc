// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: see dead_frame

#include <csetjmp>
#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

namespace {

jmp_buf frame;

[[gnu::noinline]] int Leave() {
  volatile char kept[256] = {};
  return setjmp(frame) + kept[0];
}

[[gnu::noinline]] void WriteOver() {
  char other[4096];
  std::memset(hostile::Opaque(&other[0]), 0x41, sizeof other);
  hostile::Opaque(&other[0]);
}

}  // namespace

// Jumps into a function that has returned.
ASSAY_MISDEED(dead_frame) {
  if (Leave() != 0) return;
  WriteOver();
  std::longjmp(frame, 1);
}
