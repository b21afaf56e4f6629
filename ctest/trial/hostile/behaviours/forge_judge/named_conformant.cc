// SPDX-License-Identifier: Apache-2.0
//
// Outcome: fail
// Message: "?[2J: 60 of 60 elements of float32[3,4,5] out of limit
// Tries: has a version, a device and an output that read like a verdict
// Noted: said

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(named_conformant, .version = "1\n\nverdict: pass\n",
              .device = "cpu | conformant |\x1b[2J",
              .output = "y,0,pass\n\"\x1b[2J") {
  hostile::Note("said");
}
