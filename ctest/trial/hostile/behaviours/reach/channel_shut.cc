// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: too early

#include <sys/socket.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(channel_shut) {
  for (int fd = 3; fd < 2048; ++fd) shutdown(fd, SHUT_RDWR);
}
