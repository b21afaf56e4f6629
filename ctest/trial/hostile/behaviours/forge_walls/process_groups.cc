// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: freezes the judge by the control group of its user
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(process_groups) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  fs::path procs = "/sys/fs/cgroup/cgroup.procs";
  for (const auto& group : fs::directory_iterator("/sys/fs/cgroup", error)) {
    if (group.is_directory(error)) procs = group.path() / "cgroup.procs";
  }
  hostile::TryToWrite(procs);
}
