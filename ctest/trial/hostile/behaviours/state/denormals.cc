// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: denormals

#include <xmmintrin.h>

#include "ctest/trial/hostile/misdeed.h"

// Flush to zero, denormals are zero.
ASSAY_MISDEED(denormals) { _mm_setcsr(_mm_getcsr() | 0x8040U); }
