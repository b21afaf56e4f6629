// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGINT

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

// As from a terminal.
ASSAY_MISDEED(interrupt_group) { kill(0, SIGINT); }
