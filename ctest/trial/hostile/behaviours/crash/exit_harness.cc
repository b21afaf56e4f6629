// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: exit code 99

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// The worker itself ends so when its journal cannot be written.
ASSAY_MISDEED(exit_harness) { _exit(99); }
