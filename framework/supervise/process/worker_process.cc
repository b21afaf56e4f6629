// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/worker_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "framework/supervise/process/process_tree.h"

extern char** environ;

namespace assay::process {
namespace {

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

/// A group of its own, default signals, output into the log.
class SpawnPlan {
 public:
  explicit SpawnPlan(const std::filesystem::path& log) {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }

  int Spawn(const std::vector<std::string>& arguments, const std::string& mark,
            pid_t* pid) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    std::vector<char*> environment = CleanEnvironment(mark);
    return posix_spawn(pid, argv[0], &files_, &attributes_, argv.data(),
                       environment.data());
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t files_;
};

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(
    const std::vector<std::string>& arguments, const std::filesystem::path& log,
    const WorkerLimits& limits) {
  ProcessTree::Adopt();
  const std::string mark = NextMark();
  pid_t pid = 0;
  const int error = SpawnPlan(log).Spawn(arguments, mark, &pid);
  if (error != 0) {
    return Internal("cannot start ", arguments.at(0), " with the log ",
                    log.string(), ": ", std::strerror(error));
  }
  ProcessTree::Join(pid, mark);
  ApplyLimits(pid, limits);
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
