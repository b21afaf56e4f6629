// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: signal handlers

#include <csignal>
#include <initializer_list>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(ignore_signals) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::signal(signal, SIG_IGN);
  }
}
