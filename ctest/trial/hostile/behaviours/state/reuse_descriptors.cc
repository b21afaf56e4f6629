// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: descriptors

#include <fcntl.h>
#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(reuse_descriptors) {
  const int other = open("other", O_RDWR | O_CREAT | O_APPEND, 0644);
  for (int fd = 0; fd < 8192; ++fd) {
    if (fd != other) dup2(other, fd);
  }
}
