// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/stop_watch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

namespace assay::process {
namespace {

constexpr useconds_t kBetweenLooks = 500'000;  // microseconds

/// True where the state in a process' /proc/PID/stat is T: it stands behind the
/// name, which is in brackets and may have some itself.
bool IsStopped(const char* stat_file) {
  const int fd = open(stat_file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<char, 512> text = {};
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  const std::string_view stat(text.data(), size > 0 ? size : 0);
  const size_t name_end = stat.rfind(')');
  return name_end != std::string_view::npos &&
         stat.substr(name_end).starts_with(") T");
}

[[noreturn]] void Watch(pid_t watched) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(0, ~0U, 0);  // whoever waits for their end waits for `watched`
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_IGN);
  }
  const std::string stat_file = "/proc/" + std::to_string(watched) + "/stat";
  while (getppid() == watched) {
    if (IsStopped(stat_file.c_str())) kill(watched, SIGCONT);
    usleep(kBetweenLooks);
  }
  _exit(0);
}

/// Ends the watch with the process that it is for, so that none is left behind.
struct Watcher {
  explicit Watcher(pid_t watched) : owner(watched), watch(fork()) {
    if (watch == 0) Watch(owner);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    if (getpid() != owner || watch < 0) return;
    kill(watch, SIGKILL);
    waitpid(watch, nullptr, 0);
  }

  pid_t owner;
  pid_t watch;
};

}  // namespace

void WakeWhenStopped() {
  static std::optional<Watcher> watcher;
  const bool is_of_parent =
      watcher && watcher->owner != getpid();  // after a fork
  if (!watcher || is_of_parent) watcher.emplace(getpid());
}

}  // namespace assay::process
