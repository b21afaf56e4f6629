// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: locale

#include <clocale>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(locale) { std::setlocale(LC_ALL, "C.UTF-8"); }
