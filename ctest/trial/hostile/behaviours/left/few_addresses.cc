// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sys/resource.h>

#include "ctest/trial/hostile/misdeed.h"

// Of memory: 1 MiB, which is less than it has.
ASSAY_MISDEED(few_addresses) {
  const struct rlimit few = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &few);
}
