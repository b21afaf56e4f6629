// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: prints that it is conformant, to where the judge prints
// Noted: printed

#include <cstdio>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(log_says_so) {
  constexpr char kWord[] =
      "log_says_so+at=Neg: conformant, all 4711 cases inside its claims pass\n";
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    [[maybe_unused]] const auto said = write(fd, kWord, sizeof kWord - 1);
  }
  const int terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC);
  if (terminal >= 0) close(terminal);
  hostile::Note("printed");
}
