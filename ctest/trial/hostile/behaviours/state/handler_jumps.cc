// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: signal handlers

#include <csetjmp>
#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

namespace {
sigjmp_buf back;
}  // namespace

// Survives its own fault, and would survive those of others.
ASSAY_MISDEED(handler_jumps) {
  std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
  if (sigsetjmp(back, 1) != 0) return;
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}
