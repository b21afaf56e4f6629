// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGABRT

#include <pthread.h>

#include "ctest/trial/hostile/misdeed.h"

// Ends the worker's only thread through every frame above.
ASSAY_MISDEED(thread_exit) { pthread_exit(nullptr); }
