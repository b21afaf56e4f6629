// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

// In a session of its own, deaf to all that can be ignored.
ASSAY_MISDEED(child_left) {
  if (fork() != 0) return;
  setsid();
  std::signal(SIGTERM, SIG_IGN);
  if (fork() != 0) _exit(0);
  while (hostile::Opaque(1) == 1) pause();
}
