// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <csignal>
#include <ctime>

#include "ctest/trial/hostile/misdeed.h"

// Ends the process a little later.
ASSAY_MISDEED(posix_timer) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer = {};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec soon = {{}, {0, 100'000'000}};
  timer_settime(timer, 0, &soon, nullptr);
}
