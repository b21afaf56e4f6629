// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Backend: the worker ended after its last case: exit code 99

#include <unistd.h>

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(exit_code_at_exit) {
  std::atexit([] { _exit(99); });
}
