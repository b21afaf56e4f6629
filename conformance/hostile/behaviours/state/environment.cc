// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: environment

#include <cstdlib>

#include "conformance/hostile/misdeed.h"

ASSAY_MISDEED(environment) { setenv("OMP_NUM_THREADS", "1", 1); }
