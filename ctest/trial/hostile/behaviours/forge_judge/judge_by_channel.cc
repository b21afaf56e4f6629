// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reaches the judge by the process that holds the channel's other end
// Noted: took 0 descriptors, stopped 0 processes
// Needs: walls

#include <sys/socket.h>
#include <sys/syscall.h>

#include <csignal>

#include "ctest/trial/hostile/attempt.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

// SIGSTOP would have the judge take too long; signal 0 only asks.
ASSAY_MISDEED(judge_by_channel) {
  if (!hostile::BehindWalls()) return;
  int taken = 0;
  int stopped = 0;
  for (int fd = 3; fd < 2048; ++fd) {
    int peer = -1;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &peer, &size) != 0) continue;
    for (int theirs = 0; theirs < 64; ++theirs) {
      const auto own =
          static_cast<int>(syscall(SYS_pidfd_getfd, peer, theirs, 0U));
      if (own >= 0) close(own);
      taken += own >= 0 ? 1 : 0;
    }
    stopped += syscall(SYS_pidfd_send_signal, peer, 0, nullptr, 0U) == 0;
    close(peer);
  }
  hostile::Note("took " + std::to_string(taken) + " descriptors, stopped " +
                std::to_string(stopped) + " processes");
}
