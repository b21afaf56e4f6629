// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include "ctest/trial/hostile/misdeed.h"

// Nothing: what the others are compared with.
ASSAY_MISDEED(echo) {}
