// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: descriptors

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(close_everything) { closefrom(0); }
