// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: timers

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// To fire in a case that has nothing to do with it.
ASSAY_MISDEED(alarm) { ualarm(20000, 0); }
