// SPDX-License-Identifier: Apache-2.0
//
// A backend is asked for its version and device before any setting is known.

#include "ctest/trial/hostile/attempt.h"

// Outcome: fail
// Message: "?[2J: 60 of 60 elements of float32[3,4,5] out of limit
// Tries: has a version, a device and an output that read like a verdict
// Noted: said
ASSAY_MISDEED(named_conformant, .version = "1\n\nverdict: pass\n",
              .device = "cpu | conformant |\x1b[2J",
              .output = "y,0,pass\n\"\x1b[2J") {
  hostile::Note("said");
}
