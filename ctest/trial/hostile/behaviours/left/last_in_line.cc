// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <sys/resource.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(last_in_line) { setpriority(PRIO_PROCESS, 0, 19); }
