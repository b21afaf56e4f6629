// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: environment

#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

// The environment points into memory that the next call takes back.
ASSAY_MISDEED(environment_borrowed) {
  char entry[] = "HOME=/nowhere";
  putenv(hostile::Opaque(&entry[0]));
}
