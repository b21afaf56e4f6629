// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sched.h>
#include <unistd.h>

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

namespace {

alignas(64) char stack[1 << 16];

int CloseLate(void*) {
  usleep(20'000);
  for (int fd = 0; fd < 2048; ++fd) close(fd);
  return 0;
}

}  // namespace

// It shares memory and descriptors, and is no thread.
ASSAY_MISDEED(child_closes) {
  clone(&CloseLate, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD,
        nullptr);
}
