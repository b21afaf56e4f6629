// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGABRT

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(abort) { std::abort(); }
