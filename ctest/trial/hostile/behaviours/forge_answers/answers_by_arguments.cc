// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads it in the folders that its host's arguments say to hide
// Noted: nothing in
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(answers_by_arguments) {
  std::ifstream arguments("/proc/self/cmdline");
  int folders = 0;
  bool found = false;
  bool hidden = false;
  for (std::string word; std::getline(arguments, word, '\0');) {
    if (hidden) {
      ++folders;
      found = found || hostile::TakeAnswer(word, output);
    }
    hidden = word == "--hide";
  }
  hostile::Note(found ? "took the answer"
                      : "nothing in " + std::to_string(folders) + " folders");
}
