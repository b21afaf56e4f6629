// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sched.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(one_processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
  const sched_param idle = {};
  sched_setscheduler(0, SCHED_IDLE, &idle);
}
