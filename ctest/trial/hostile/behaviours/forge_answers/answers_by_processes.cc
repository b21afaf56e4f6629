// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads it by the folders that other processes work in and have open
// Noted: nothing there
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

namespace {

/// From a folder of another process' on, and from those above it.
bool TakeFrom(const fs::path& folder, const fs::path& build,
              const hostile::Output& output) {
  if (hostile::TakeAnswer(folder, output)) return true;
  for (const fs::path& below :
       {fs::path("build/corpus/onnx"), build.relative_path() / "corpus/onnx"}) {
    if (hostile::TakeAnswer(folder / below, output)) return true;
  }
  return false;
}

}  // namespace

ASSAY_MISDEED(answers_by_processes) {
  const fs::path build = hostile::Prefix();
  std::error_code error;
  bool found = false;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    for (const char* link : {"cwd", "root"}) {
      found = found || TakeFrom(process.path() / link, build, output);
    }
    for (const auto& open :
         fs::directory_iterator(process.path() / "fd", error)) {
      found = found || TakeFrom(open.path(), build, output);
    }
  }
  hostile::NoteAnswer(found);
}
