// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGKILL
// Needs: walls

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

// All processes that it can see, its own parent among them.
ASSAY_MISDEED(kill_all) {
  if (!hostile::BehindWalls()) return;
  kill(-1, SIGKILL);
  while (hostile::Opaque(1) == 1) {
  }
}
