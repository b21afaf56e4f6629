// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: mask of new files

#include <sys/stat.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(file_mask) { umask(0777); }
