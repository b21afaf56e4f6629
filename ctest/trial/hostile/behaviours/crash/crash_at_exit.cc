// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Backend: the worker ended after its last case: signal SIGABRT

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(crash_at_exit) { std::atexit(std::abort); }
