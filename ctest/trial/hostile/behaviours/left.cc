// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that leave behind what nobody can put back: limits, timers,
// threads, filters, another root. The case keeps its verdict; the next one gets
// another process (framework/testing/worker/process_state.h).

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "ctest/trial/hostile/attempt.h"
#include "ctest/trial/hostile/misdeed.h"

// Outcome: unchanged
ASSAY_MISDEED(all_descriptors) {
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}

namespace {

alignas(64) char stack[1 << 16];

int CloseLate(void*) {
  usleep(20'000);
  for (int fd = 0; fd < 2048; ++fd) close(fd);
  return 0;
}

}  // namespace

// It shares memory and descriptors, and is no thread.
// Outcome: unchanged
ASSAY_MISDEED(child_closes) {
  clone(&CloseLate, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD,
        nullptr);
}

// A child that goes on writing to what it shares with the judge.
// Outcome: unchanged
ASSAY_MISDEED(child_writes) {
  const std::vector<hostile::Range> shared = hostile::SharedMemory();
  if (shared.empty()) return;
  if (fork() != 0) {
    usleep(20'000);  // until it does
    return;
  }
  constexpr size_t kPart = 1 << 16;  // what is used first
  while (hostile::Opaque(1) == 1) std::memset(shared[0].start, 0xA5, kPart);
}

// One MiB of addresses, which is less than it has.
// Outcome: unchanged
ASSAY_MISDEED(few_addresses) {
  const struct rlimit few = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &few);
}

// Outcome: unchanged
ASSAY_MISDEED(few_descriptors) {
  const struct rlimit few = {3, 3};
  setrlimit(RLIMIT_NOFILE, &few);
}

// No file can be opened any more.
// Outcome: unchanged
ASSAY_MISDEED(filter) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Outcome: unchanged
ASSAY_MISDEED(last_in_line) { setpriority(PRIO_PROCESS, 0, 19); }

// Outcome: unchanged
ASSAY_MISDEED(late_thread) {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::abort();
  }).detach();
}

// A thread that goes on writing to the inputs of the case when it is over.
// Outcome: unchanged
ASSAY_MISDEED(late_writer) {
  std::thread([output] {
    while (hostile::Opaque(1) == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::memset(output.input, 0xA5, output.bytes);
    }
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// A second of the processor, after which its process is ended.
// Outcome: unchanged
ASSAY_MISDEED(little_time) {
  const struct rlimit second = {1, 1};
  setrlimit(RLIMIT_CPU, &second);
}

// On its own module, which every later process of it opens.
// Outcome: unchanged
ASSAY_MISDEED(lock_held) {
  const int fd = open(hostile::ModuleFile().c_str(), O_RDONLY | O_CLOEXEC);
  flock(fd, LOCK_EX | LOCK_NB);
}

// Outcome: unchanged
ASSAY_MISDEED(no_new_files) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
}

// Outcome: unchanged
ASSAY_MISDEED(one_processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
  const sched_param idle = {};
  sched_setscheduler(0, SCHED_IDLE, &idle);
}

// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(other_root) {
  if (chroot("/tmp") == 0 && chdir("/") == 0) return;
}

// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(other_user) {
  if (!hostile::BehindWalls()) return;
  constexpr unsigned kNobody = 65534;
  if (setgid(kNobody) == 0 && setuid(kNobody) == 0) return;
}

// Ends the process a little later.
// Outcome: unchanged
ASSAY_MISDEED(posix_timer) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer = {};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec soon = {{}, {0, 100'000'000}};
  timer_settime(timer, 0, &soon, nullptr);
}

// Those of System V stay until somebody removes them.
// Outcome: unchanged
// Needs: walls
ASSAY_MISDEED(segments_left) {
  if (!hostile::BehindWalls()) return;
  for (key_t key = 0x41535359; key < 0x41535359 + 16; ++key) {
    hostile::Opaque(shmget(key, 1 << 20, IPC_CREAT | 0600));
    hostile::Opaque(semget(key, 1, IPC_CREAT | 0600));
    hostile::Opaque(msgget(key, IPC_CREAT | 0600));
  }
}

// Children that ended, and that nobody asked how.
// Outcome: unchanged
ASSAY_MISDEED(zombies) {
  for (int i = 0; i < 50; ++i) {
    if (fork() == 0) _exit(0);
  }
}
