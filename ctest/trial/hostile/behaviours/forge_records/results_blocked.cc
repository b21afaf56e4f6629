// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Noted: refused
// Needs: walls

#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

// A folder, over which no file can be renamed: the run would have no results.
ASSAY_MISDEED(results_blocked) {
  if (!hostile::BehindWalls()) return;
  const auto folder = hostile::RunFolder() / "results.csv";
  hostile::NoteDone("making results.csv", mkdir(folder.c_str(), 0755) == 0);
}
