// SPDX-License-Identifier: Apache-2.0
//
// A behaviour that exports functions which its host calls. Those would be any
// other's of the same module, too.

#include <sys/socket.h>

#include "ctest/trial/hostile/attempt.h"

namespace {
int n_called = 0;
}  // namespace

#define ASSAY_SEEN extern "C" __attribute__((visibility("default")))

ASSAY_SEEN ssize_t sendmsg(int, const msghdr*, int) {
  ++n_called;
  return 0;
}

ASSAY_SEEN ssize_t recvmsg(int, msghdr*, int) {
  ++n_called;
  return -1;
}

// Outcome: unchanged
// Tries: has functions of its own in the place of the host's
// Noted: called 0 times
ASSAY_MISDEED(symbols_taken) {
  hostile::Note("called " + std::to_string(n_called) + " times");
}
