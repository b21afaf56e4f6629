// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGKILL
// Needs: walls

#include <unistd.h>

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(kill_parent) {
  if (!hostile::BehindWalls()) return;
  kill(getppid(), SIGKILL);
  while (hostile::Opaque(1) == 1) {
  }
}
