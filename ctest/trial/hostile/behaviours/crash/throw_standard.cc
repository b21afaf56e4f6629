// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: an exception was thrown: boo

#include <stdexcept>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(throw_standard) { throw std::runtime_error("boo"); }
