// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <fcntl.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(all_descriptors) {
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}
