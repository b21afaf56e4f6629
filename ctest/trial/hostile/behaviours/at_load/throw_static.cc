// SPDX-License-Identifier: Apache-2.0
//
// Throws while it is loaded, each time.

#include <stdexcept>

#include "ctest/trial/hostile/misdeed.h"

namespace {
const int kNever = [] {
  if (hostile::Opaque(1) == 1) throw std::runtime_error("boo");
  return 1;
}();
}  // namespace

// Outcome: crash
// Message: before the first case
// Scope: all
// Backend: the worker ended before the first case: signal SIGABRT
ASSAY_MISDEED(throw_static) { hostile::Opaque(kNever); }
