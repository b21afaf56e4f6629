// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: signal mask

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(signal_mask) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}
