// SPDX-License-Identifier: Apache-2.0
//
// Forgeries that take the walls down: mounts, namespaces, the root folder, the
// kernel's settings, control groups, clocks. framework/testing/walls/walls.h
// gives no rights to change them.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>

#include <ctime>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

// In a child, since it cannot be undone.
// Outcome: unchanged
// Tries: takes them off in namespaces of its own, or mounts the disk beside
// Noted: 0 of 3 ways led there
// Needs: walls
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

// Outcome: unchanged
// Tries: takes the mounts off that hide the answers
// Noted: Operation not permitted
// Needs: walls
ASSAY_MISDEED(answers_uncovered) {
  if (!hostile::BehindWalls()) return;
  const std::filesystem::path corpus =
      std::filesystem::weakly_canonical(hostile::Prefix() / "corpus/onnx");
  const bool done = umount2(corpus.c_str(), MNT_DETACH) == 0;
  hostile::NoteDone("taking it off", done);
  if (hostile::TakeAnswer(corpus, output)) hostile::Note("took the answer");
}

// Outcome: unchanged
// Tries: sets the clocks back, so that no time limit comes
// Noted: set 0 clocks
// Needs: walls
ASSAY_MISDEED(clock_set) {
  if (!hostile::BehindWalls()) return;
  int set = 0;
  for (const clockid_t clock :
       {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI}) {
    timespec now = {};
    clock_gettime(clock, &now);
    set += clock_settime(clock, &now) == 0 ? 1 : 0;
  }
  timeval now = {};
  gettimeofday(&now, nullptr);
  set += settimeofday(&now, nullptr) == 0 ? 1 : 0;
  timex frequency = {};
  frequency.modes = ADJ_TICK;
  frequency.tick = 10'000;
  set += adjtimex(&frequency) >= 0 ? 1 : 0;
  hostile::Note("set " + std::to_string(set) + " clocks");
}

// Outcome: unchanged
// Tries: has the kernel run a program of its own, outside, at the next crash
// Noted: refused
// Needs: walls
ASSAY_MISDEED(kernel_settings) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite("/proc/sys/kernel/core_pattern");
}

// Outcome: unchanged
// Tries: enters the namespaces of each process that it sees
// Noted: entered 0
// Needs: walls
ASSAY_MISDEED(others_entered) {
  if (!hostile::BehindWalls()) return;
  int entered = 0;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    for (const char* space : {"user", "pid", "mnt", "ipc"}) {
      const fs::path file = process.path() / "ns" / space;
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) continue;
      entered += setns(fd, 0) == 0 ? 1 : 0;
      close(fd);
    }
  }
  hostile::Note("entered " + std::to_string(entered));
}

// Outcome: unchanged
// Tries: freezes the judge by the control group of its user
// Noted: refused
// Needs: walls
ASSAY_MISDEED(process_groups) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  fs::path procs = "/sys/fs/cgroup/cgroup.procs";
  for (const auto& group : fs::directory_iterator("/sys/fs/cgroup", error)) {
    if (group.is_directory(error)) procs = group.path() / "cgroup.procs";
  }
  hostile::TryToWrite(procs);
}

// Outcome: unchanged
// Tries: mounts the judge's programs writable, to change what judges later
// Noted: refused
// Needs: walls
ASSAY_MISDEED(programs_writable) {
  if (!hostile::BehindWalls()) return;
  const std::filesystem::path prefix = hostile::Prefix();
  mount(nullptr, prefix.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr);
  hostile::TryToWrite(prefix / "lib/assay/reference.so");
}

// In a child, since it cannot be undone.
// Outcome: unchanged
// Tries: leaves its root folder by a second one, and makes another root
// Noted: nothing there
// Needs: walls
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
