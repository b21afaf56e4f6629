// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: environment

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(environment) { setenv("OMP_NUM_THREADS", "1", 1); }
