// SPDX-License-Identifier: Apache-2.0
//
// Ends the first process that loads it, before any case could be blamed.

#include <fcntl.h>

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

namespace {
// The first worker of a folder ends in it, before any case could be blamed.
const int kOnce = [] {
  const int fd = open("once", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (fd >= 0) std::abort();
  return fd;
}();
}  // namespace

// Outcome: unchanged
// Backend: the worker ended before the first case: signal SIGABRT
ASSAY_MISDEED(abort_at_first_load) { hostile::Opaque(kOnce); }
