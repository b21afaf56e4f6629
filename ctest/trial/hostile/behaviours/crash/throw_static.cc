// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: before the first case
// Scope: all
// Backend: the worker ended before the first case: signal SIGABRT

#include <stdexcept>

#include "ctest/trial/hostile/misdeed.h"

namespace {
const int kNever = [] {
  if (hostile::Opaque(1) == 1) throw std::runtime_error("boo");
  return 1;
}();
}  // namespace

ASSAY_MISDEED(throw_static) { hostile::Opaque(kNever); }
