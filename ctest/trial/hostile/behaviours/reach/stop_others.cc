// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <unistd.h>

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

// By number, from its own on: those of the run are not numbered here.
ASSAY_MISDEED(stop_others) {
  if (!hostile::BehindWalls()) return;
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) kill(pid, SIGSTOP);
}
