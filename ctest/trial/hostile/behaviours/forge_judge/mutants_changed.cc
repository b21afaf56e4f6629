// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: adds to the table of mutants that the harness is said to kill
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(mutants_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToMake(hostile::Prefix() / "mutants.csv", "all,killed\n");
}
