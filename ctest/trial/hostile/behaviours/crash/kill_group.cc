// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGKILL

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(kill_group) { kill(0, SIGKILL); }
