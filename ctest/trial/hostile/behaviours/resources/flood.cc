// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include <string>

#include "ctest/trial/hostile/misdeed.h"

// Half a GiB to standard output and to standard error.
ASSAY_MISDEED(flood) {
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 256; ++i) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (write(fd, text.data(), text.size()) < 0) return;
    }
  }
}
