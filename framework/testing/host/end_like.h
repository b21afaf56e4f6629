// SPDX-License-Identifier: Apache-2.0
//
// EndLike: a process ends as another did, so that who waits for the one learns
// of the other.

#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace assay::host {

/// Waits for a child to end; how it did, as waitpid says.
inline int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] inline void EndLike(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  _exit(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_FAILURE);
}

}  // namespace assay::host
