// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: puts a folder of its own in the place of the records
// Noted: 0 of 2 done
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(records_replaced) {
  if (!hostile::BehindWalls()) return;
  const fs::path run = hostile::RunFolder();
  int done = 0;
  done += rename((run / "records").c_str(), (run / "old").c_str()) == 0 ? 1 : 0;
  done += rename(run.c_str(), (run.string() + ".old").c_str()) == 0 ? 1 : 0;
  hostile::Note(std::to_string(done) + " of 2 done");
}
