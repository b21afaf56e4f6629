// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <sys/resource.h>
#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// By number from its own on: those of the run are not numbered here.
ASSAY_MISDEED(parent_limits) {
  if (!hostile::BehindWalls()) return;
  const struct rlimit none = {0, 0};
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) {
    prlimit(pid, RLIMIT_FSIZE, &none, nullptr);
  }
}
