// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that do not come back: they wait, loop or stop the worker. The
// time limit must end them, and them only.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "ctest/trial/hostile/misdeed.h"

// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(busy_loop) {
  while (hostile::Opaque(1) == 1) {
  }
}

// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(handler_loops) {
  std::signal(SIGSEGV, [](int) {
    while (hostile::Opaque(1) == 1) {
    }
  });
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}

// Outcome: unchanged
// Timeout: 2
// Backend: the worker took more than 2 s
ASSAY_MISDEED(hang_at_exit) {
  std::atexit([] {
    while (hostile::Opaque(1) == 1) pause();
  });
}

// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(other_program_sleeps) {
  execl("/bin/sleep", "sleep", "1000", nullptr);
}

// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(sleep) {
  while (hostile::Opaque(1) == 1) pause();
}

// The judge is in it as well.
// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(stop_group) { kill(0, SIGSTOP); }

// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(stop_itself) { std::raise(SIGSTOP); }

// From now on nothing is sent, and the host is told that it was.
// Outcome: timeout
// Message: time limit
// Timeout: 2
ASSAY_MISDEED(writes_nothing) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
