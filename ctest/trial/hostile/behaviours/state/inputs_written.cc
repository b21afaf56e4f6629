// SPDX-License-Identifier: Apache-2.0
//
// Outcome: fail
// Message: run again: output y
// At: Identity
// Case: node/Identity/test_identity

#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

// Behind an output that is right.
ASSAY_MISDEED(inputs_written) {
  if (output.input != nullptr) std::memset(output.input, 0, output.bytes);
}
