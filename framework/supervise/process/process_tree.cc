// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/process_tree.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

namespace assay::process {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// A killed process ends late where it waits for a disk.
constexpr std::chrono::seconds kPatience{10};

struct Family {
  std::set<pid_t> strangers;             // children from before
  std::map<pid_t, std::string> workers;  // and their marks
};

Family& TheFamily() {
  static auto* family = new Family();
  return *family;
}

/// At most `most` bytes of a file in /proc; empty when the process is gone.
std::string ReadProc(pid_t pid, const char* name, size_t most) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  std::array<char, 4096> block;
  ssize_t got = 0;
  while (text.size() < most &&
         (got = read(fd, block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<size_t>(got));
  }
  close(fd);
  return text;
}

/// "12 (any) name) S 7 ...": the 7. -1 when the process is gone.
pid_t ParentOf(pid_t pid) {
  const std::string stat = ReadProc(pid, "stat", 512);
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || stat.size() < name_end + 5) return -1;
  pid_t parent = -1;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(),
                  parent);
  return parent;
}

/// Every process of the machine by its parent.
std::multimap<pid_t, pid_t> AllByParent() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    const auto [rest, bad] =
        std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || rest != name.data() + name.size()) continue;
    children.emplace(ParentOf(pid), pid);
  }
  return children;
}

void AddBelow(const std::multimap<pid_t, pid_t>& children, pid_t root,
              std::vector<pid_t>* out) {
  const auto [first, last] = children.equal_range(root);
  for (auto at = first; at != last; ++at) {
    if (std::ranges::find(*out, at->second) != out->end()) continue;
    out->push_back(at->second);
    AddBelow(children, at->second, out);
  }
}

bool HasChildren() {
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// The environment of a process, with a zero before and behind each entry.
std::string EnvironmentOf(pid_t pid) {
  return std::string(1, '\0') + ReadProc(pid, "environ", 4U << 20U);
}

bool HasMark(const std::string& environment, const std::string& mark) {
  const std::string whole = '\0' + mark + '\0';
  return environment.find(whole) != std::string::npos;
}

/// True when an orphan is another active worker's, or may be.
bool IsKept(pid_t orphan) {
  const Family& family = TheFamily();
  if (family.workers.empty()) return false;
  const std::string environment = EnvironmentOf(orphan);
  if (std::ranges::any_of(family.workers, [&](const auto& w) {
        return HasMark(environment, w.second);
      })) {
    return true;
  }
  const std::string& any = family.workers.begin()->second;
  const std::string name = '\0' + any.substr(0, any.find('=') + 1);
  return environment.size() > 1 && environment.find(name) == std::string::npos;
}

std::ifstream OpenProc(pid_t pid, const char* name) {
  return std::ifstream("/proc/" + std::to_string(pid) + "/" + name);
}

/// All pages in memory, those of files too, and shared ones for each process.
int64_t ResidentBytes(pid_t pid) {
  int64_t size = 0;
  int64_t resident = 0;
  OpenProc(pid, "statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// A page that n processes share counts for an n-th:
/// https://www.kernel.org/doc/html/latest/filesystems/proc.html, smaps_rollup.
int64_t ShareBytes(pid_t pid) {
  std::ifstream rollup = OpenProc(pid, "smaps_rollup");
  int64_t kilobytes = 0;
  for (std::string word; rollup >> word;) {
    int64_t value = 0;
    if ((word == "Pss_Anon:" || word == "Pss_Shmem:") && rollup >> value) {
      kilobytes += value;
    }
  }
  return kilobytes << 10U;
}

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

std::vector<pid_t> DescendantsOf(pid_t root) {
  std::vector<pid_t> below;
  AddBelow(AllByParent(), root, &below);
  return below;
}

void ProcessTree::Adopt() {
  static const bool adopted = [] {
    WakeWhenStopped();
    const std::multimap<pid_t, pid_t> all = AllByParent();
    const auto [first, last] = all.equal_range(getpid());
    for (auto at = first; at != last; ++at) {
      TheFamily().strangers.insert(at->second);
    }
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  }();
  static_cast<void>(adopted);
}

void ProcessTree::Join(pid_t worker, const std::string& mark) {
  TheFamily().workers[worker] = mark;
}

std::vector<pid_t> ProcessTree::Members(pid_t worker) {
  const Family& family = TheFamily();
  const std::multimap<pid_t, pid_t> all = AllByParent();
  std::vector<pid_t> members = {worker};
  AddBelow(all, worker, &members);
  const auto mark = family.workers.find(worker);
  const auto [first, last] = all.equal_range(getpid());
  for (auto at = first; mark != family.workers.end() && at != last; ++at) {
    const pid_t orphan = at->second;
    if (family.strangers.contains(orphan) || family.workers.contains(orphan) ||
        !HasMark(EnvironmentOf(orphan), mark->second)) {
      continue;
    }
    members.push_back(orphan);
    AddBelow(all, orphan, &members);
  }
  return members;
}

void ProcessTree::Kill(pid_t worker) {
  // Stopped first: it cannot start another while we look.
  kill(worker, SIGSTOP);
  for (const pid_t pid : DescendantsOf(worker)) kill(pid, SIGKILL);
  kill(-worker, SIGKILL);
  kill(worker, SIGKILL);  // in case it left its group
}

void ProcessTree::Leave(pid_t worker) {
  Family& family = TheFamily();
  family.workers.erase(worker);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (HasChildren() && std::chrono::steady_clock::now() < deadline) {
    const std::multimap<pid_t, pid_t> all = AllByParent();
    const auto [first, last] = all.equal_range(getpid());
    bool left = false;
    for (auto at = first; at != last; ++at) {
      const pid_t orphan = at->second;
      if (family.strangers.contains(orphan) ||
          family.workers.contains(orphan) || IsKept(orphan)) {
        continue;
      }
      left = true;
      std::vector<pid_t> tree = {orphan};
      AddBelow(all, orphan, &tree);
      for (const pid_t pid : tree) kill(pid, SIGKILL);
      waitpid(orphan, nullptr, WNOHANG);
    }
    if (!left) return;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

int64_t TreeMemory(const std::vector<pid_t>& processes, int64_t enough) {
  int64_t bytes = 0;
  for (const pid_t pid : processes) bytes += ResidentBytes(pid);
  if (bytes <= enough) return bytes;
  bytes = 0;
  for (const pid_t pid : processes) bytes += ShareBytes(pid);
  return bytes;
}

int64_t MachineMemory() {
  std::ifstream meminfo("/proc/meminfo");
  int64_t kilobytes = 0;
  int found = 0;
  for (std::string word; found < 2 && meminfo >> word;) {
    int64_t value = 0;
    if ((word == "AnonPages:" || word == "Shmem:") && meminfo >> value) {
      kilobytes += value;
      ++found;
    }
  }
  return found == 2 ? kilobytes << 10U : INT64_MAX;
}

void WakeWhenStopped() {
  static std::optional<Watcher> watcher;
  const bool is_of_parent =
      watcher && watcher->owner != getpid();  // after a fork
  if (!watcher || is_of_parent) watcher.emplace(getpid());
}

}  // namespace assay::process
