// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: exit code 0

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(exit_zero) { std::exit(0); }
