// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// Children that ended, and that nobody asked how.
ASSAY_MISDEED(zombies) {
  for (int i = 0; i < 50; ++i) {
    if (fork() == 0) _exit(0);
  }
}
