// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads it in the corpus that an installation has
// Noted: nothing there
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(answers_installed) {
  bool found = false;
  for (const std::filesystem::path& prefix :
       {hostile::Prefix(), std::filesystem::path("/usr/local"),
        std::filesystem::path("/usr")}) {
    found = found ||
            hostile::TakeAnswer(prefix / "share/assay/corpus/onnx", output);
  }
  hostile::NoteAnswer(found);
}
