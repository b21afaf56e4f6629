// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: working directory

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(working_directory) { hostile::Opaque(chdir("/")); }
