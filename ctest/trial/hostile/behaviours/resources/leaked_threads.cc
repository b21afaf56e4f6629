// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <thread>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(leaked_threads) {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      while (hostile::Opaque(1) == 1) {
      }
    }).detach();
  }
}
