// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sys/resource.h>

#include "ctest/trial/hostile/misdeed.h"

// Of the processor: a second, after which its process is ended.
ASSAY_MISDEED(little_time) {
  const struct rlimit second = {1, 1};
  setrlimit(RLIMIT_CPU, &second);
}
