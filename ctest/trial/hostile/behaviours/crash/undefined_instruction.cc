// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGILL

#include "ctest/trial/hostile/misdeed.h"

// As a module does that was built for another processor.
ASSAY_MISDEED(undefined_instruction) { asm volatile("ud2"); }
