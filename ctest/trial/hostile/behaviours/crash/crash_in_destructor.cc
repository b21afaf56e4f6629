// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Backend: the worker ended after its last case: signal SIGSEGV

#include "ctest/trial/hostile/misdeed.h"

namespace {
struct Late {
  ~Late() { *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1; }
};
}  // namespace

ASSAY_MISDEED(crash_in_destructor) {
  static Late late;
  hostile::Opaque(&late);
}
