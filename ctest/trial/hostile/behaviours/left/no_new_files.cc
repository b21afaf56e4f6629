// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sys/resource.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(no_new_files) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
}
