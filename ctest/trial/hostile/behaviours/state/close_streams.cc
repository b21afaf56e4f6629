// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: standard streams

#include <unistd.h>

#include <initializer_list>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(close_streams) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    close(stream);
  }
}
