// SPDX-License-Identifier: Apache-2.0
//
// Outcome: timeout
// Message: time limit
// Timeout: 2

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

// The judge is in it as well.
ASSAY_MISDEED(stop_group) { kill(0, SIGSTOP); }
