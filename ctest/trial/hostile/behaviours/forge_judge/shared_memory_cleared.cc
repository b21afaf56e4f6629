// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: sets all to zeros that it shares with the judge: inputs, models, guards
// Noted: cleared

#include "ctest/trial/hostile/shared_memory.h"

ASSAY_MISDEED(shared_memory_cleared) {
  for (const hostile::Range& range : hostile::SharedMemory()) {
    std::memset(range.start, 0, range.bytes);
  }
  hostile::Note("cleared");
}
