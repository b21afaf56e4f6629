// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGABRT

#include <unistd.h>

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(child_and_crash) {
  if (fork() == 0) {
    setsid();
    while (hostile::Opaque(1) == 1) pause();
  }
  std::abort();
}
