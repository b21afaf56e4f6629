// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads it by a folder that was left open for it
// Noted: no folder is open

#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

// The test has the folder of the corpus open when it starts a run.
ASSAY_MISDEED(answers_by_descriptors) {
  int folders = 0;
  bool found = false;
  for (int fd = 3; fd < 2048; ++fd) {
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    ++folders;
    found = found ||
            hostile::TakeAnswer("/proc/self/fd/" + std::to_string(fd), output);
  }
  hostile::Note(found ? "took the answer"
                : std::to_string(folders) == "0"
                    ? "no folder is open"
                    : std::to_string(folders) + " folders are open");
}
