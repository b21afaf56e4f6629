// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that take what is not theirs: memory, disk, the log, threads and
// children that stay, and bytes beyond an output. Nothing of it may be left,
// and no other case may suffer.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ctest/trial/hostile/misdeed.h"

// Outcome: crash
// Message: SIGABRT
ASSAY_MISDEED(child_and_crash) {
  if (fork() == 0) {
    setsid();
    while (hostile::Opaque(1) == 1) pause();
  }
  std::abort();
}

// In a session of its own, deaf to all that can be ignored.
// Outcome: unchanged
ASSAY_MISDEED(child_left) {
  if (fork() != 0) return;
  setsid();
  std::signal(SIGTERM, SIG_IGN);
  if (fork() != 0) _exit(0);
  while (hostile::Opaque(1) == 1) pause();
}

// The child goes on with the worker's cases, as if it were the worker.
// Outcome: unchanged
ASSAY_MISDEED(child_returns) { hostile::Opaque(fork()); }

// Twenty, each the child of the one before, and twenty side by side.
// Outcome: unchanged
ASSAY_MISDEED(children_left) {
  for (int i = 0; i < 20; ++i) {
    if (fork() == 0) {
      setsid();
      while (hostile::Opaque(1) == 1) pause();
    }
  }
  if (fork() != 0) return;
  for (int i = 0; i < 20 && fork() == 0; ++i) setsid();
  while (hostile::Opaque(1) == 1) pause();
}

// Without a mark by which it could be known again.
// Outcome: unchanged
ASSAY_MISDEED(daemon) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  clearenv();
  const char* const argv[] = {"sleep", "1000", nullptr};
  const char* const none[] = {nullptr};
  execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(none));
  _exit(1);
}

// Half a GiB to standard output and to standard error.
// Outcome: unchanged
ASSAY_MISDEED(flood) {
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 256; ++i) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (write(fd, text.data(), text.size()) < 0) return;
    }
  }
}

// Outcome: crash
// Message: SIGXFSZ
ASSAY_MISDEED(huge_file) {
  const int fd = open("huge", O_RDWR | O_CREAT, 0644);
  hostile::Opaque(ftruncate(fd, off_t{1} << 40));
}

// Outcome: unchanged
ASSAY_MISDEED(leaked_threads) {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      while (hostile::Opaque(1) == 1) {
      }
    }).detach();
  }
}

// Each child keeps below the limit, and all of them together do not.
// Outcome: crash
// Message: over the memory limit of
// Memory: 0.25
ASSAY_MISDEED(memory_children) {
  for (int child = 0; child < 8; ++child) {
    if (fork() != 0) continue;
    std::vector<char> kept(128 << 20);
    std::memset(kept.data(), 1, kept.size());
    while (hostile::Opaque(kept.data()) != nullptr) pause();
  }
  while (hostile::Opaque(1) == 1) pause();
}

// Outcome: error
// Message: memory ran out
ASSAY_MISDEED(memory_huge) {
  const std::vector<char> huge(hostile::Opaque(size_t{1} << 46U));
  hostile::Opaque(huge.data());
}

// Outcome: error
// Message: memory ran out
// Memory: 0.5
ASSAY_MISDEED(memory_runaway) {
  std::vector<std::unique_ptr<char[]>> kept;
  constexpr size_t kPiece = 1 << 20;
  while (hostile::Opaque(1) == 1) {
    kept.push_back(std::make_unique<char[]>(kPiece));
    std::memset(kept.back().get(), 1, kPiece);
  }
}

// Shared pages are no process' own, and RLIMIT_DATA does not count them.
// Outcome: crash
// Message: over the memory limit of
// Memory: 0.25
ASSAY_MISDEED(memory_shared) {
  constexpr size_t kPiece = 16 << 20;
  for (int piece = 0; piece < 64; ++piece) {  // at most 1 GiB
    void* const at = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) std::memset(at, 1, kPiece);
    usleep(10'000);
  }
  while (hostile::Opaque(1) == 1) pause();
}

// As C libraries do: nobody looks whether there was memory.
// Outcome: crash
// Message: SIGSEGV
// Memory: 0.5
ASSAY_MISDEED(memory_unchecked) {
  constexpr size_t kPiece = 16 << 20;
  while (hostile::Opaque(1) == 1) {
    auto* piece = static_cast<volatile char*>(std::malloc(kPiece));
    for (size_t i = 0; i < kPiece; i += 4096) piece[i] = 1;
  }
}

// Only of a case that passes is more asked, and a backend that returns what it
// is fed passes Identity.
// Outcome: fail
// Message: run again: found 16 bytes behind its end of output y written over
// At: Identity
// Case: node/Identity/test_identity
ASSAY_MISDEED(write_past_output) {
  if (!output.given) return;
  std::memset(hostile::Opaque(output.data + output.bytes), 0xA5, 16);
}
