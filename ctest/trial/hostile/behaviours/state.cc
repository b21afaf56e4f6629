// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that leave the process changed: rounding mode, signals, timers,
// descriptors, environment, locale, working directory. The case in which it
// happened is an error, and the next case runs as ever.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cfenv>
#include <clocale>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "ctest/trial/hostile/misdeed.h"

// To fire in a case that has nothing to do with it.
// Outcome: error
// Message: timers
ASSAY_MISDEED(alarm) { ualarm(20000, 0); }

// Outcome: error
// Message: descriptors
ASSAY_MISDEED(close_all) { closefrom(3); }

// Outcome: error
// Message: descriptors
ASSAY_MISDEED(close_everything) { closefrom(0); }

// Those that a process usually has; the journal's is higher.
// Outcome: unchanged
ASSAY_MISDEED(close_low) {
  for (int fd = 3; fd < 256; ++fd) close(fd);
}

// Outcome: error
// Message: standard streams
ASSAY_MISDEED(close_streams) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    close(stream);
  }
}

// Flush to zero, denormals are zero.
// Outcome: error
// Message: denormals
ASSAY_MISDEED(denormals) { _mm_setcsr(_mm_getcsr() | 0x8040U); }

// Outcome: error
// Message: environment
ASSAY_MISDEED(environment) { setenv("OMP_NUM_THREADS", "1", 1); }

// The environment points into memory that the next call takes back.
// Outcome: error
// Message: environment
ASSAY_MISDEED(environment_borrowed) {
  char entry[] = "HOME=/nowhere";
  putenv(hostile::Opaque(&entry[0]));
}

// Outcome: error
// Message: environment
ASSAY_MISDEED(environment_cleared) { clearenv(); }

// Outcome: error
// Message: mask of new files
ASSAY_MISDEED(file_mask) { umask(0777); }

namespace {
sigjmp_buf back;
}  // namespace

// Survives its own fault, and would survive those of others.
// Outcome: error
// Message: signal handlers
ASSAY_MISDEED(handler_jumps) {
  std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
  if (sigsetjmp(back, 1) != 0) return;
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}

// Outcome: error
// Message: signal handlers
ASSAY_MISDEED(ignore_signals) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::signal(signal, SIG_IGN);
  }
}

// Behind an output that is right.
// Outcome: fail
// Message: run again: output y
// At: Identity
// Case: node/Identity/test_identity
ASSAY_MISDEED(inputs_written) {
  if (output.input != nullptr) std::memset(output.input, 0, output.bytes);
}

// Outcome: error
// Message: locale
ASSAY_MISDEED(locale) { std::setlocale(LC_ALL, "C.UTF-8"); }

// Outcome: error
// Message: descriptors
ASSAY_MISDEED(reuse_descriptors) {
  const int other = open("other", O_RDWR | O_CREAT | O_APPEND, 0644);
  for (int fd = 0; fd < 8192; ++fd) {
    if (fd != other) dup2(other, fd);
  }
}

// Outcome: error
// Message: rounding mode
ASSAY_MISDEED(rounding_mode) { std::fesetround(FE_UPWARD); }

// Outcome: error
// Message: signal mask
ASSAY_MISDEED(signal_mask) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// A later division by zero would end the process.
// Outcome: error
// Message: floating-point traps
ASSAY_MISDEED(traps) { feenableexcept(FE_DIVBYZERO | FE_INVALID); }

// Outcome: error
// Message: working directory
ASSAY_MISDEED(working_directory) { hostile::Opaque(chdir("/")); }
