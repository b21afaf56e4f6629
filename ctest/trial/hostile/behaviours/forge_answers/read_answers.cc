// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads the answer in the corpus of the build
// Noted: nothing there
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(read_answers) {
  hostile::NoteAnswer(
      hostile::TakeAnswer(hostile::Prefix() / "corpus/onnx", output));
}
