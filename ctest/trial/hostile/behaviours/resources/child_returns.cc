// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// The child goes on with the worker's cases, as if it were the worker.
ASSAY_MISDEED(child_returns) { hostile::Opaque(fork()); }
