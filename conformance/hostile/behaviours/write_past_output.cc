// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
//
// Nobody looks at what lies behind caller-owned outputs; where somebody does,
// the outcome that this file wants is another.

#include <cstring>

#include "conformance/hostile/misdeed.h"

ASSAY_MISDEED(write_past_output) {
  if (output.data == nullptr) return;
  std::memset(hostile::Opaque(output.data + output.bytes), 0x41, 16);
}
