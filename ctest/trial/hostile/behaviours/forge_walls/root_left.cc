// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: leaves its root folder by a second one, and makes another root
// Noted: nothing there
// Needs: walls

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

// In a child, since it cannot be undone.
ASSAY_MISDEED(root_left) {
  if (!hostile::BehindWalls()) return;
  const pid_t child = fork();
  if (child > 0) return;
  std::error_code error;
  const fs::path corpus =
      fs::weakly_canonical(hostile::Prefix() / "corpus/onnx", error);
  mkdir("inner", 0755);
  const int top = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (chroot("inner") == 0 && fchdir(top) == 0) {
    for (int up = 0; up < 64 && chdir("..") == 0; ++up) {
    }
    if (chroot(".") != 0) _exit(1);
  }
  syscall(SYS_pivot_root, "inner", "inner");
  hostile::NoteAnswer(hostile::TakeAnswer(corpus, output));
  _exit(0);
}
