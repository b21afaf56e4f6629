// SPDX-License-Identifier: Apache-2.0
//
// Outcome: timeout
// Message: time limit
// Timeout: 2

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(stop_itself) { std::raise(SIGSTOP); }
