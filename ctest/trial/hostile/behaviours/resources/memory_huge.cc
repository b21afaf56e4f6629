// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: memory ran out

#include <vector>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(memory_huge) {
  const std::vector<char> huge(hostile::Opaque(size_t{1} << 46U));
  hostile::Opaque(huge.data());
}
