// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: changes the plan, in which the case is claimed
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(plan_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite(hostile::RunFolder() / "plan.csv");
}
