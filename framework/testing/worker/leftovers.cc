// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/leftovers.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// Files that a library opens once and keeps are no misdeed.
constexpr int kFewDescriptors = 64;

/// The least number that a descriptor opened now would have.
int NextDescriptor() {
  const int next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (next >= 0) close(next);
  return next;
}

/// The kernel's count: a folder has a link from each folder in it, and two.
int CountThreads() {
  struct stat info = {};
  return stat("/proc/self/task", &info) == 0
             ? static_cast<int>(info.st_nlink) - 2
             : 0;
}

std::string FirstWord(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// True when a thread of this process besides the calling one does anything but
/// wait on a lock.
bool ThreadsRunOn() {
  const std::string own = std::to_string(gettid());
  const std::string waits = std::to_string(SYS_futex);
  std::error_code error;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", error)) {
    if (thread.path().filename() == own) continue;
    if (FirstWord(thread.path() / "syscall") != waits) return true;
  }
  return false;
}

/// Timers of timer_create, where the kernel lists them.
bool HasTimers() { return !FirstWord("/proc/self/timers").empty(); }

/// Children that run, or that nobody has asked how they ended.
bool HasChildren() {
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

cpu_set_t Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

}  // namespace

Leftovers::Limits Leftovers::LimitsNow() {
  Limits limits = {};
  for (size_t i = 0; i < limits.size(); ++i) {
    getrlimit(static_cast<__rlimit_resource>(i), &limits[i]);
  }
  return limits;
}

Leftovers::Leftovers()
    : limits_(LimitsNow()),
      user_(geteuid()),
      group_(getegid()),
      processors_(Processors()),
      policy_(sched_getscheduler(0)),
      filter_(prctl(PR_GET_SECCOMP)),
      next_descriptor_(NextDescriptor()),
      n_threads_(CountThreads()) {
  stat("/", &root_);
}

std::string Leftovers::Found() const {
  std::string found;
  const auto note = [&found](bool differs, const char* what) {
    if (!differs) return;
    found += found.empty() ? what : std::string(", ") + what;
  };
  const Limits limits = LimitsNow();
  note(std::memcmp(&limits, &limits_, sizeof limits) != 0, "limits");
  struct stat root = {};
  const bool same_root = stat("/", &root) == 0 && root.st_dev == root_.st_dev &&
                         root.st_ino == root_.st_ino;
  note(!same_root, "root folder");
  note(geteuid() != user_ || getegid() != group_, "user");
  const cpu_set_t processors = Processors();
  note(!CPU_EQUAL(&processors, &processors_), "processors");
  note(sched_getscheduler(0) != policy_, "scheduling");
  note(prctl(PR_GET_SECCOMP) != filter_, "system calls");
  const int next = NextDescriptor();
  note(next < 0 || next > next_descriptor_ + kFewDescriptors, "descriptors");
  note(HasTimers(), "timers");
  note(CountThreads() > n_threads_ && ThreadsRunOn(), "threads");
  note(HasChildren(), "processes");
  return found;
}

}  // namespace assay::worker
