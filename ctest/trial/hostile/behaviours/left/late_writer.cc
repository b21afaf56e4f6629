// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <chrono>
#include <cstring>
#include <thread>

#include "ctest/trial/hostile/misdeed.h"

// A thread that goes on writing to the inputs of the case when it is over.
ASSAY_MISDEED(late_writer) {
  std::thread([output] {
    while (hostile::Opaque(1) == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::memset(output.input, 0xA5, output.bytes);
    }
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
