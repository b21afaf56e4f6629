// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: plants answers of its own where those of the oracle are kept
// Noted: refused
// Needs: walls

#include <cstdlib>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(answers_planted) {
  if (!hostile::BehindWalls()) return;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path base = cache != nullptr  ? fs::path(cache)
                        : home != nullptr ? fs::path(home) / ".cache"
                                          : fs::temp_directory_path();
  hostile::TryToMake(base / "assay/oracle/planted", "answers");
}
