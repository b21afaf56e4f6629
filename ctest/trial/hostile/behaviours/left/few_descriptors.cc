// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sys/resource.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(few_descriptors) {
  const struct rlimit few = {3, 3};
  setrlimit(RLIMIT_NOFILE, &few);
}
