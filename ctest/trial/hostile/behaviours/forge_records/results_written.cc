// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: writes the results before the judge does
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(results_written) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToMake(hostile::RunFolder() / "results.csv",
                     "node/Neg/test_neg,pass\n");
}
