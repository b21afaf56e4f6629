// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "ctest/trial/hostile/misdeed.h"

namespace {
const int kHere = 0;
}  // namespace

// The module itself, those beside it, and the programs of the build.
ASSAY_MISDEED(remove_programs) {
  if (!hostile::BehindWalls()) return;
  namespace fs = std::filesystem;
  Dl_info info = {};
  dladdr(&kHere, &info);
  std::error_code error;
  const fs::path module = fs::absolute(info.dli_fname, error);
  fs::remove(module, error);
  fs::remove(module.parent_path() / "echo.so", error);
  const fs::path build = module.parent_path().parent_path().parent_path();
  fs::remove(build / "bin" / "assay-worker", error);
  fs::remove(build / "lib" / "assay" / "reference.so", error);
}
