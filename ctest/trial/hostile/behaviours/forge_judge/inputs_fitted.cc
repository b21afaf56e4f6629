// SPDX-License-Identifier: Apache-2.0
//
// Outcome: fail
// Message: got 0, wanted
// Tries: sets the inputs to zeros, of which it gives the right answer
// Noted: set

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(inputs_fitted) {
  std::memset(output.input, 0, output.bytes);
  std::memset(output.data, 0, output.bytes);
  hostile::Note("set");
}
