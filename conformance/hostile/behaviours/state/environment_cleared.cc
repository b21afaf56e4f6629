// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: environment

#include <cstdlib>

#include "conformance/hostile/misdeed.h"

ASSAY_MISDEED(environment_cleared) { clearenv(); }
