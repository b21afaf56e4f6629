// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: takes them off in namespaces of its own, or mounts the disk beside
// Noted: 0 of 3 ways led there
// Needs: walls

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

// In a child, since it cannot be undone.
ASSAY_MISDEED(answers_in_other_walls) {
  if (!hostile::BehindWalls()) return;
  const pid_t child = fork();
  if (child > 0) return;
  std::error_code error;
  const fs::path corpus =
      fs::weakly_canonical(hostile::Prefix() / "corpus/onnx", error);
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    hostile::Note("0 of 3 ways led there, for want of namespaces");
    _exit(0);
  }
  int ways = 0;
  umount2(corpus.c_str(), MNT_DETACH);
  ways += hostile::TakeAnswer(corpus, output) ? 1 : 0;
  // Without what is mounted below it.
  const fs::path beside = fs::current_path(error) / "beside";
  mkdir(beside.c_str(), 0755);
  mount("/", beside.c_str(), nullptr, MS_BIND, nullptr);
  ways += hostile::TakeAnswer(beside / corpus.relative_path(), output) ? 1 : 0;
  mount(corpus.c_str(), beside.c_str(), nullptr, MS_MOVE, nullptr);
  ways += hostile::TakeAnswer(corpus, output) ? 1 : 0;
  hostile::Note(std::to_string(ways) + " of 3 ways led there");
  _exit(0);
}
