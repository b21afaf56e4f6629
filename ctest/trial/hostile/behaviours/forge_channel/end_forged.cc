// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: exit code 0, too early
// Backend: the worker ended between
// Tries: tells the judge that it ended well, by its parent's descriptor
// Noted: sent
// Needs: walls

#include <sys/syscall.h>

#include <cstdlib>

#include "ctest/trial/hostile/forged_answer.h"

namespace {

/// The descriptor on which the program tells how those that it forked ended.
int DoorOfParent() {
  const auto parent = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0U));
  for (int theirs = 3; theirs < 1024; ++theirs) {
    const auto own =
        static_cast<int>(syscall(SYS_pidfd_getfd, parent, theirs, 0U));
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(own, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
      return own;
    }
    close(own);
  }
  return -1;
}

}  // namespace

ASSAY_MISDEED(end_forged) {
  if (!hostile::BehindWalls()) return;
  hostile::ForgedAnswer end;
  end.Put({0});
  hostile::Note(end.Send(DoorOfParent()) ? "sent" : "not sent");
  std::abort();
}
