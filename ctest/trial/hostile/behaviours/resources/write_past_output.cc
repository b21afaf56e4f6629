// SPDX-License-Identifier: Apache-2.0
//
// Outcome: fail
// Message: run again: found 16 bytes behind its end of output y written over
// At: Identity
// Case: node/Identity/test_identity
//
// Only of a case that passes is more asked, and a backend that returns what it
// is fed passes Identity.

#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(write_past_output) {
  if (!output.given) return;
  std::memset(hostile::Opaque(output.data + output.bytes), 0xA5, 16);
}
