// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: sets the clocks back, so that no time limit comes
// Noted: set 0 clocks
// Needs: walls

#include <sys/time.h>
#include <sys/timex.h>

#include <ctime>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(clock_set) {
  if (!hostile::BehindWalls()) return;
  int set = 0;
  for (const clockid_t clock :
       {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI}) {
    timespec now = {};
    clock_gettime(clock, &now);
    set += clock_settime(clock, &now) == 0 ? 1 : 0;
  }
  timeval now = {};
  gettimeofday(&now, nullptr);
  set += settimeofday(&now, nullptr) == 0 ? 1 : 0;
  timex frequency = {};
  frequency.modes = ADJ_TICK;
  frequency.tick = 10'000;
  set += adjtimex(&frequency) >= 0 ? 1 : 0;
  hostile::Note("set " + std::to_string(set) + " clocks");
}
