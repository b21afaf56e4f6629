// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: floating-point traps

#include <cfenv>

#include "ctest/trial/hostile/misdeed.h"

// A later division by zero would end the process.
ASSAY_MISDEED(traps) { feenableexcept(FE_DIVBYZERO | FE_INVALID); }
