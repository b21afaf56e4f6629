// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/worker_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace assay::inline v1 {
namespace {

/// Ours without what would steer GoogleTest from outside.
std::vector<char*> CleanEnvironment() {
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("GTEST_")) {
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

  int Spawn(const std::vector<std::string>& arguments, pid_t* pid) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    std::vector<char*> environment = CleanEnvironment();
    return posix_spawn(pid, argv[0], &files_, &attributes_, argv.data(),
                       environment.data());
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t files_;
};

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(
    const std::vector<std::string>& arguments,
    const std::filesystem::path& log) {
  pid_t pid = 0;
  const int error = SpawnPlan(log).Spawn(arguments, &pid);
  if (error != 0) {
    return Internal("cannot start ", arguments.at(0), " with the log ",
                    log.string(), ": ", std::strerror(error));
  }
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, descriptor));
}

WorkerProcess::~WorkerProcess() {
  if (!wait_status_.has_value()) Kill();
  if (descriptor_ >= 0) close(descriptor_);
}

bool WorkerProcess::Ended() {
  if (wait_status_.has_value()) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  wait_status_ = status;
  // What the worker may have left running goes with it.
  kill(-pid_, SIGKILL);
  return true;
}

void WorkerProcess::Kill() {
  if (wait_status_.has_value()) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // in case it left its group
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  wait_status_ = status;
}

bool WorkerProcess::EndedBySignal() const {
  return wait_status_.has_value() && WIFSIGNALED(*wait_status_);
}

int WorkerProcess::exit_code() const {
  return wait_status_.has_value() && WIFEXITED(*wait_status_)
             ? WEXITSTATUS(*wait_status_)
             : -1;
}

std::string WorkerProcess::HowItEnded() const {
  if (EndedBySignal()) {
    const int signal = WTERMSIG(*wait_status_);
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? StrCat("signal ", signal)
                           : StrCat("signal SIG", name);
  }
  return exit_code() == 0 ? std::string() : StrCat("exit code ", exit_code());
}

}  // namespace assay::inline v1
