// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Timeout: 2
// Backend: the worker took more than 2 s

#include <unistd.h>

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(hang_at_exit) {
  std::atexit([] {
    while (hostile::Opaque(1) == 1) pause();
  });
}
