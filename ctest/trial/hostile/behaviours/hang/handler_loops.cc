// SPDX-License-Identifier: Apache-2.0
//
// Outcome: timeout
// Message: time limit
// Timeout: 2

#include <csignal>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(handler_loops) {
  std::signal(SIGSEGV, [](int) {
    while (hostile::Opaque(1) == 1) {
    }
  });
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}
