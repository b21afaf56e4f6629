// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// Twenty, each the child of the one before, and twenty side by side.
ASSAY_MISDEED(children_left) {
  for (int i = 0; i < 20; ++i) {
    if (fork() == 0) {
      setsid();
      while (hostile::Opaque(1) == 1) pause();
    }
  }
  if (fork() != 0) return;
  for (int i = 0; i < 20 && fork() == 0; ++i) setsid();
  while (hostile::Opaque(1) == 1) pause();
}
