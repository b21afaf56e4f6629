// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(other_root) {
  if (chroot("/tmp") == 0 && chdir("/") == 0) return;
}
