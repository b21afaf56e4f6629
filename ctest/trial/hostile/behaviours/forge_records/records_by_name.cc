// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: appends to its journal, which lies beside its log
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(records_by_name) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  const auto log = std::filesystem::read_symlink("/proc/self/fd/2", error);
  hostile::TryToWrite(std::filesystem::path(log).replace_extension("journal"));
}
