// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: rounding mode

#include <cfenv>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(rounding_mode) { std::fesetround(FE_UPWARD); }
