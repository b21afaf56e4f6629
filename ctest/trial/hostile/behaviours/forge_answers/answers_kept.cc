// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads what an oracle said in earlier runs
// Noted: 0 files
// Needs: walls

#include <cstdlib>
#include <utility>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(answers_kept) {
  int files = 0;
  std::error_code error;
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", ".cache")}) {
    const char* const base = std::getenv(variable);
    if (base == nullptr) continue;
    const fs::path oracle = fs::path(base) / below / "assay/oracle";
    for (auto entry = fs::recursive_directory_iterator(oracle, error);
         !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
      files += entry->is_regular_file(error) ? 1 : 0;
    }
    if (fs::exists(oracle, error)) break;  // the one that is used
  }
  hostile::Note(std::to_string(files) + " files");
}
