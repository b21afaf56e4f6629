// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: writes a pass into every file that is open
// Noted: wrote to 0 files

#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(records_by_descriptor) {
  constexpr char kPass[] = "node/Neg/test_neg,pass\n";
  struct stat log = {};
  fstat(STDERR_FILENO, &log);
  int files = 0;
  for (int fd = 0; fd < 2048; ++fd) {
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_ino == log.st_ino && info.st_dev == log.st_dev) continue;
    files += write(fd, kPass, sizeof kPass - 1) > 0 ? 1 : 0;
  }
  hostile::Note("wrote to " + std::to_string(files) + " files");
}
