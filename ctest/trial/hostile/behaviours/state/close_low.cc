// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// Those that a process usually has; the journal's is higher.
ASSAY_MISDEED(close_low) {
  for (int fd = 3; fd < 256; ++fd) close(fd);
}
