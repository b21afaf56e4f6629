// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that reach for what is not in their process: other processes, the
// run's records, programs and policies. Behind walls
// (framework/testing/walls/walls.h) there is nothing there. One that would do
// harm without says "Needs: walls", and is left out where a kernel allows none.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>

#include "ctest/trial/hostile/misdeed.h"

namespace fs = std::filesystem;

// Into every socket that it has.
// Outcome: error
// Message: cannot be read
ASSAY_MISDEED(channel_garbage) {
  constexpr char kGarbage[] = "an answer that is none, and long enough";
  for (int fd = 3; fd < 2048; ++fd) {
    send(fd, kGarbage, sizeof kGarbage, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

// Outcome: crash
// Message: too early
ASSAY_MISDEED(channel_shut) {
  for (int fd = 3; fd < 2048; ++fd) shutdown(fd, SHUT_RDWR);
}

// A run notes the digest of each file that a module executes from: here one
// that has no end. A library that is loaded makes it look.
// Outcome: unchanged
ASSAY_MISDEED(endless_file) {
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  hostile::Opaque(
      mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, zeros, 0));
  dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
}

// As from a terminal.
// Outcome: crash
// Message: SIGINT
ASSAY_MISDEED(interrupt_group) { kill(0, SIGINT); }

// All processes that it can see, its own parent among them.
// Outcome: crash
// Message: SIGKILL
// Needs: walls
ASSAY_MISDEED(kill_all) {
  if (!hostile::BehindWalls()) return;
  kill(-1, SIGKILL);
  while (hostile::Opaque(1) == 1) {
  }
}

// Outcome: crash
// Message: SIGKILL
// Needs: walls
ASSAY_MISDEED(kill_parent) {
  if (!hostile::BehindWalls()) return;
  kill(getppid(), SIGKILL);
  while (hostile::Opaque(1) == 1) {
  }
}

// By number from its own on: those of the run are not numbered here.
// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(parent_limits) {
  if (!hostile::BehindWalls()) return;
  const struct rlimit none = {0, 0};
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) {
    prlimit(pid, RLIMIT_FSIZE, &none, nullptr);
  }
}

// The module itself, those beside it, and the programs of the build.
// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(remove_programs) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  const fs::path module = fs::absolute(hostile::ModuleFile(), error);
  fs::remove(module, error);
  fs::remove(module.parent_path() / "echo.so", error);
  const fs::path build = module.parent_path().parent_path().parent_path();
  fs::remove(build / "bin" / "assay-worker", error);
  fs::remove(build / "lib" / "assay" / "reference.so", error);
}

// By number, from its own on: those of the run are not numbered here.
// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(stop_others) {
  if (!hostile::BehindWalls()) return;
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) kill(pid, SIGSTOP);
}

// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(trace_others) {
  if (!hostile::BehindWalls()) return;
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) {
    ptrace(PTRACE_SEIZE, pid, nullptr, nullptr);
    char bytes[64] = {};
    const iovec own = {bytes, sizeof bytes};
    const iovec other = {reinterpret_cast<void*>(0x400000), sizeof bytes};
    [[maybe_unused]] const auto done =
        process_vm_writev(pid, &own, 1, &other, 1, 0);
  }
}
