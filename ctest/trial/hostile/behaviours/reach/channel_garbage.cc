// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read

#include <sys/socket.h>
#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

// Into every socket that it has.
ASSAY_MISDEED(channel_garbage) {
  constexpr char kGarbage[] = "an answer that is none, and long enough";
  for (int fd = 3; fd < 2048; ++fd) {
    send(fd, kGarbage, sizeof kGarbage, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}
