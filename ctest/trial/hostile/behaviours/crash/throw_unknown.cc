// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: unknown type

#include "ctest/trial/hostile/misdeed.h"

namespace {
struct Nothing {};
}  // namespace

ASSAY_MISDEED(throw_unknown) { throw Nothing(); }
