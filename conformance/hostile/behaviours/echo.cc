// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include "conformance/hostile/misdeed.h"

// Nothing: what the others are compared with.
ASSAY_MISDEED(echo) {}
