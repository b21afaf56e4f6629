// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>

#include "ctest/trial/hostile/misdeed.h"

namespace {
const int kHere = 0;
}  // namespace

// On its own module, which every later process of it opens.
ASSAY_MISDEED(lock_held) {
  Dl_info info = {};
  dladdr(&kHere, &info);
  const int fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
  flock(fd, LOCK_EX | LOCK_NB);
}
