// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads it in the folders that its host was told to hide
// Noted: nothing in
// Needs: walls

#include <sstream>

#include "ctest/trial/hostile/attempt.h"

// No argument names them, but what is mounted over them is listed.
ASSAY_MISDEED(answers_by_arguments) {
  int folders = 0;
  bool found = false;
  const auto look = [&](const std::string& word) {
    if (!word.starts_with("/")) return;
    ++folders;
    found = found || hostile::TakeAnswer(word, output);
  };
  std::ifstream arguments("/proc/self/cmdline");
  for (std::string word; std::getline(arguments, word, '\0');) look(word);
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    for (std::string word; words >> word;) look(word);
  }
  hostile::Note(found ? "took the answer"
                      : "nothing in " + std::to_string(folders) + " folders");
}
