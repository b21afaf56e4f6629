// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: has the kernel run a program of its own, outside, at the next crash
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(kernel_settings) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite("/proc/sys/kernel/core_pattern");
}
