// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/worker_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "framework/supervise/process/process_tree.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASSAY_SHADOW_MEMORY_ 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SHADOW_MEMORY_ 1
#endif

extern char** environ;

namespace assay::process {
namespace {

#ifdef ASSAY_SHADOW_MEMORY_
constexpr bool kShadowMemory = true;
#else
constexpr bool kShadowMemory = false;
#endif

constexpr int64_t kEnough = int64_t{4} << 30;
// Memory that processes have beside what they ask for: stacks, and pages that
// they wrote to since a fork, of a worker and of those that host its backend.
constexpr int64_t kOfMany = int64_t{256} << 20;

int64_t MemoryBytes() {
  const int64_t machine =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t group = 0;
  // "max" where there is no limit, which is no number.
  std::ifstream file("/sys/fs/cgroup/memory.max");
  return file >> group && group > 0 ? std::min(machine, group) : machine;
}

void Limit(__rlimit_resource what, int64_t bytes) {
  struct rlimit now = {};
  if (getrlimit(what, &now) != 0) return;
  const auto wanted = std::min<rlim_t>(now.rlim_max, bytes);
  const struct rlimit limit = {std::min(now.rlim_cur, wanted), wanted};
  setrlimit(what, &limit);
}

constexpr off_t kLogBytes = 1 << 20;
constexpr off_t kLogSlack = 1 << 12;  // so that a cut is not cut again
constexpr std::string_view kCut = "\n[cut here: a log keeps its first MiB]\n";

/// Cuts a log that a backend floods. Others may be writing, at its end.
void KeepLogShort(const std::filesystem::path& log) {
  const int fd =
      open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  struct stat info = {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size > kLogBytes + kLogSlack && ftruncate(fd, kLogBytes) == 0) {
    [[maybe_unused]] const auto said = write(fd, kCut.data(), kCut.size());
  }
  close(fd);
}

/// A mark that tells the descendants of this process' next worker from others.
std::string NextMark() {
  static int number = 0;
  return StrCat("ASSAY_WORKER=", getpid(), ".", ++number);
}

/// Ours without what would steer GoogleTest from outside, and with the mark.
std::vector<char*> CleanEnvironment(const std::string& mark) {
  std::vector<char*> environment = {const_cast<char*>(mark.c_str())};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("GTEST_") && !text.starts_with("ASSAY_WORKER=")) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(nullptr);
  return environment;
}

/// The parts of a process, made before there is one: few functions may be
/// called behind a fork.
struct Image {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* log;
  WorkerLimits limits;
  pid_t parent;
};

/// `fd` at another number, open in the program to come.
bool Place(int fd, int at) {
  return fd == at ? fcntl(at, F_SETFD, 0) == 0 : dup2(fd, at) == at;
}

/// In the child: a group of its own, no signal blocked, output into the log,
/// limits that nothing it starts can be without, and an end with the process
/// that started it, as also a launcher has which knows nothing of that. Returns
/// where it cannot.
void Become(const Image& image) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != image.parent) _exit(EXIT_FAILURE);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Python leaves it ignored in what it becomes.
  std::signal(SIGXFSZ, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int log =
      open(image.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (nothing < 0 || log < 0 || !Place(nothing, STDIN_FILENO) ||
      !Place(log, STDOUT_FILENO) || !Place(log, STDERR_FILENO)) {
    return;
  }
  ApplyLimits(image.limits);
  execve(image.arguments[0], image.arguments.data(), image.environment.data());
}

/// The error of the system; 0 where the process runs its program.
int Spawn(const Image& image, pid_t* pid) {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  *pid = fork();
  if (*pid == 0) {
    Become(image);
    const int error = errno;
    [[maybe_unused]] const auto told = write(ends[1], &error, sizeof error);
    _exit(EXIT_FAILURE);
  }
  int error = *pid < 0 ? errno : 0;
  close(ends[1]);
  // Closed by the program that is run.
  ssize_t got = 0;
  do {
    got = *pid < 0 ? 0 : read(ends[0], &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  close(ends[0]);
  if (got > 0) waitpid(*pid, nullptr, 0);
  return error;
}

}  // namespace

int64_t MemoryShare(int workers) {
  const int64_t all = MemoryBytes();
  return std::max(all / 5 * 4 / std::max(workers, 1),
                  std::min(kEnough, all / 2));
}

int64_t TreeLimit(const WorkerLimits& limits) {
  if (kShadowMemory || limits.memory_bytes == 0) return 0;
  return limits.memory_bytes + limits.memory_bytes / 16 + kOfMany;
}

void ApplyLimits(const WorkerLimits& limits) {
  if (limits.memory_bytes > 0 && !kShadowMemory) {
    Limit(RLIMIT_DATA, limits.memory_bytes);
  }
  if (limits.file_bytes > 0) Limit(RLIMIT_FSIZE, limits.file_bytes);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  [[maybe_unused]] const auto written = write(score, "1000", 4);
  close(score);
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(
    const std::vector<std::string>& arguments, const std::filesystem::path& log,
    const WorkerLimits& limits) {
  ProcessTree::Adopt();
  const std::string mark = NextMark();
  Image image{{}, CleanEnvironment(mark), log.c_str(), limits, getpid()};
  for (const std::string& argument : arguments) {
    image.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  image.arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = Spawn(image, &pid);
  if (error != 0) {
    return Internal("cannot start ", arguments.at(0), " with the log ",
                    log.string(), ": ", std::strerror(error));
  }
  ProcessTree::Join(pid, mark);
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(pid, descriptor, log));
}

WorkerProcess::~WorkerProcess() {
  if (!wait_status_.has_value()) Kill();
  if (descriptor_ >= 0) close(descriptor_);
}

bool WorkerProcess::Ended() {
  if (wait_status_.has_value()) return true;
  KeepLogShort(log_);
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info,
             WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_) {
    return false;
  }
  // Before it is reaped, while its number cannot be another's.
  kill(-pid_, SIGKILL);
  Reap();
  return true;
}

void WorkerProcess::Kill() {
  if (wait_status_.has_value()) return;
  ProcessTree::Kill(pid_);
  Reap();
}

void WorkerProcess::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  wait_status_ = status;
  ProcessTree::Leave(pid_);
  KeepLogShort(log_);
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? StrCat("signal ", signal)
                           : StrCat("signal SIG", name);
  }
  const int code = WEXITSTATUS(wait_status);
  return code == 0 ? std::string() : StrCat("exit code ", code);
}

}  // namespace assay::process
