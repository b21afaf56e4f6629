// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unsupported
// Message: not this one
// Tries: declines what it would fail, when it has seen the model

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(declines_what_fails, .declines = "not this one") {}
