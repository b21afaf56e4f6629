// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: searches the memory that it shares with the judge for wanted values
// Noted: the answer is not there
// Needs: walls

#include "ctest/trial/hostile/shared_memory.h"

namespace {

/// As Neg's answer begins: the numbers of the input with other signs.
bool IsAnswer(const unsigned char* at, const hostile::Output& output) {
  for (size_t i = 0; i < output.bytes; ++i) {
    const unsigned sign = i % sizeof(float) == 3 ? 0x80U : 0U;
    if (at[i] != (output.input[i] ^ sign)) return false;
  }
  return true;
}

}  // namespace

ASSAY_MISDEED(answers_in_shared_memory) {
  size_t searched = 0;
  for (const hostile::Range& range : hostile::SharedMemory()) {
    searched += range.bytes;
    for (size_t at = 0; at + output.bytes <= range.bytes; at += 4) {
      if (!IsAnswer(range.start + at, output)) continue;
      std::memcpy(output.data, range.start + at, output.bytes);
      return hostile::Note("took the answer");
    }
  }
  hostile::Note(searched == 0 ? "no memory is shared"
                              : "the answer is not there");
}
