// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGSEGV

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(segfault) {
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}
