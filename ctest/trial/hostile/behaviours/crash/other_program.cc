// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: exit code 0

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(other_program) { execl("/bin/true", "true", nullptr); }
