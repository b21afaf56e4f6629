// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <unistd.h>

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

// Without a mark by which it could be known again.
ASSAY_MISDEED(daemon) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  clearenv();
  const char* const argv[] = {"sleep", "1000", nullptr};
  const char* const none[] = {nullptr};
  execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(none));
  _exit(1);
}
