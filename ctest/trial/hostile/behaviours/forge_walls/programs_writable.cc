// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: mounts the judge's programs writable, to change what judges later
// Noted: refused
// Needs: walls

#include <sys/mount.h>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(programs_writable) {
  if (!hostile::BehindWalls()) return;
  const std::filesystem::path prefix = hostile::Prefix();
  mount(nullptr, prefix.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr);
  hostile::TryToWrite(prefix / "lib/assay/reference.so");
}
