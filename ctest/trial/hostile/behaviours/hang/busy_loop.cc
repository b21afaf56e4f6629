// SPDX-License-Identifier: Apache-2.0
//
// Outcome: timeout
// Message: time limit
// Timeout: 2

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(busy_loop) {
  while (hostile::Opaque(1) == 1) {
  }
}
