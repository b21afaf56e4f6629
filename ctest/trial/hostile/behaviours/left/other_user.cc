// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(other_user) {
  if (!hostile::BehindWalls()) return;
  constexpr unsigned kNobody = 65534;
  if (setgid(kNobody) == 0 && setuid(kNobody) == 0) return;
}
