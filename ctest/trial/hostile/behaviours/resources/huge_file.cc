// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGXFSZ

#include <fcntl.h>
#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(huge_file) {
  const int fd = open("huge", O_RDWR | O_CREAT, 0644);
  hostile::Opaque(ftruncate(fd, off_t{1} << 40));
}
