// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: standard streams

#include <unistd.h>

#include "conformance/hostile/misdeed.h"

ASSAY_MISDEED(close_streams) { closefrom(0); }
