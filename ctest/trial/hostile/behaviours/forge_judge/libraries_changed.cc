// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: adds to the libraries that the page's program imports
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(libraries_changed) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  const fs::path venv = hostile::Prefix() / "share/assay/venv";
  hostile::TryToWrite(venv / "pyvenv.cfg");
}
