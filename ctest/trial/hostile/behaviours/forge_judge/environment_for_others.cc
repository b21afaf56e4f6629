// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: environment
// Tries: names a library and a cache of its own for those who come later
// Noted: set

#include <cstdlib>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(environment_for_others) {
  setenv("LD_PRELOAD", "/tmp/right.so", 1);
  setenv("XDG_CACHE_HOME", "/tmp/right", 1);
  setenv("TMPDIR", "/tmp/right", 1);
  hostile::Note("set");
}
