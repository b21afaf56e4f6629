// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <chrono>
#include <cstdlib>
#include <thread>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(late_thread) {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::abort();
  }).detach();
}
