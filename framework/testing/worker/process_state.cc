// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/process_state.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <climits>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "framework/file/file.h"
#include "framework/testing/host/counts/counts.h"

extern char** environ;

namespace assay::worker {
namespace {

constexpr int kHighDescriptor = 1000;  // above what others close and number

/// Adds what differs, as "rounding mode, locale".
auto NotingIn(std::string* all) {
  return [all](bool differs, const char* what) {
    if (!differs) return;
    *all += all->empty() ? what : std::string(", ") + what;
  };
}

/// Empty where it is gone.
std::string WorkingDirectory() {
  std::error_code unknown;
  return std::filesystem::current_path(unknown).string();
}

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

// The kernel's part of a set, whose other words nobody fills.
bool SameSignals(const sigset_t& a, const sigset_t& b) {
  return std::memcmp(&a, &b, (NSIG - 1) / CHAR_BIT) == 0;
}

bool SameHandler(const struct sigaction& a, const struct sigaction& b) {
  // How the C library returns from a handler, which it adds by itself.
  constexpr unsigned kRestorer = 0x04000000;
  const auto differ = static_cast<unsigned>(a.sa_flags ^ b.sa_flags);
  return (differ & ~kRestorer) == 0 && a.sa_handler == b.sa_handler &&
         SameSignals(a.sa_mask, b.sa_mask);
}

/// Stops timers that would send a signal into a later case; true if one ran.
bool DisarmTimers() {
  bool armed = false;
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    const struct itimerval none = {};
    struct itimerval left = {};
    setitimer(which, &none, &left);
    if (timerisset(&left.it_value)) armed = true;
  }
  return armed;
}

void AddFiles(const std::string& process, std::set<std::string>* files) {
  std::ifstream maps("/proc/" + process + "/maps");
  // "7f... r-xp 00026000 08:01 1234   /usr/lib/libc.so.6"
  for (std::string line; std::getline(maps, line);) {
    const size_t permissions = line.find(' ') + 1;
    const size_t path = line.find('/');
    if (path == std::string::npos || line[permissions + 2] != 'x' ||
        line.ends_with(" (deleted)")) {
      continue;
    }
    files->insert(line.substr(path));
  }
}

namespace fs = std::filesystem;

// Files that a library opens once and keeps are no misdeed.
constexpr int kFewDescriptors = 64;

/// The least number that a descriptor opened now would have.
int NextDescriptor() {
  return file::Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)).get();
}

/// The kernel's count, and two: a folder has a link from each folder in it.
uint64_t CountThreads() {
  struct stat info = {};
  stat("/proc/self/task", &info);
  return info.st_nlink;
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

#if defined(__x86_64__)
namespace {
// Intel 64 manual, volume 1: figures 8-6 (x87 control word), 10-3 (MXCSR).
constexpr uint32_t kDenormals = 0x8040;  // FTZ, DAZ
constexpr uint32_t kTraps = 0x1F80;
constexpr uint32_t kX87Precision = 0x0300;
constexpr uint32_t kX87Traps = 0x003F;
}  // namespace

FloatControl FloatControl::Capture() {
  fenv_t now;
  fegetenv(&now);
  return {std::fegetround(), now.__mxcsr & kDenormals,
          (now.__mxcsr & kTraps) | (now.__control_word & kX87Traps),
          now.__control_word & kX87Precision};
}

void FloatControl::Restore() const {
  fenv_t now;
  fegetenv(&now);
  now.__mxcsr =
      (now.__mxcsr & ~(kDenormals | kTraps)) | denormals | (traps & kTraps);
  now.__control_word = static_cast<uint16_t>(
      (now.__control_word & ~(kX87Precision | kX87Traps)) | precision |
      (traps & kX87Traps));
  fesetenv(&now);
  std::fesetround(rounding);
}
#else
FloatControl FloatControl::Capture() { return {std::fegetround(), 0, 0, 0}; }

void FloatControl::Restore() const { std::fesetround(rounding); }
#endif

ProcessState::Streams::Streams() {
  for (int fd = 0; fd < kStreams; ++fd) {
    struct stat info = {};
    if (fstat(fd, &info) != 0) continue;
    std::error_code unknown;
    const auto path = std::filesystem::read_symlink(
        "/proc/self/fd/" + std::to_string(fd), unknown);
    files[fd] = {fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor), path.string(),
                 fcntl(fd, F_GETFL), info.st_dev, info.st_ino};
  }
}

ProcessState::Streams::~Streams() {
  for (const OpenFile& file : files) {
    if (file.IsAt(file.copy)) close(file.copy);
  }
}

bool ProcessState::OpenFile::IsAt(int fd) const {
  struct stat info = {};
  return fstat(fd, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

void ProcessState::OpenFile::PutBack(int fd) {
  if (IsAt(copy)) {
    dup2(copy, fd);
    return;
  }
  // The copy went with it.
  const auto reopen = [fd](const char* where, int how) {
    const int again = open(where, how & ~(O_CREAT | O_TRUNC | O_EXCL));
    if (again == fd || again < 0) return;
    dup2(again, fd);
    close(again);
  };
  reopen(path.c_str(), flags);
  if (!IsAt(fd)) {
    reopen("/dev/null", O_RDWR);
    struct stat info = {};
    fstat(fd, &info);
    device = info.st_dev;
    inode = info.st_ino;
  }
  copy = fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor);
}

ProcessState ProcessState::Capture() {
  ProcessState state;
  state.floats_ = FloatControl::Capture();
  state.locale_ = std::setlocale(LC_ALL, nullptr);
  state.directory_ = WorkingDirectory();
  pthread_sigmask(SIG_SETMASK, nullptr, &state.signals_);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &state.handlers_[i]);
  }
  state.file_mask_ = umask(0);
  umask(state.file_mask_);
  state.environment_ = Environment();
  state.streams_ = std::make_shared<Streams>();
  return state;
}

std::string ProcessState::RestoreFloats() const {
  const FloatControl now = FloatControl::Capture();
  std::string changed;
  const auto note = NotingIn(&changed);
  note(now.rounding != floats_.rounding, "rounding mode");
  note(now.denormals != floats_.denormals, "treatment of denormals");
  note(now.traps != floats_.traps, "floating-point traps");
  note(now.precision != floats_.precision, "x87 precision");
  if (!changed.empty()) floats_.Restore();
  return changed;
}

bool ProcessState::RestoreHandlers() const {
  bool changed = false;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now = {};
    sigaction(kSignals[i], nullptr, &now);
    if (SameHandler(now, handlers_[i])) continue;
    changed = true;
    sigaction(kSignals[i], &handlers_[i], nullptr);
  }
  return changed;
}

bool ProcessState::RestoreEnvironment() const {
  if (Environment() == environment_) return false;
  clearenv();
  // The first of two entries of one name counts, as for getenv. The other is
  // lost, and no later case is to blame.
  for (const std::string& text : environment_) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, 0);
  }
  environment_ = Environment();
  return true;
}

bool ProcessState::RestoreStreams() const {
  bool changed = false;
  for (int fd = 0; fd < kStreams; ++fd) {
    OpenFile& file = streams_->files[fd];
    if (file.copy < 0 || file.IsAt(fd)) continue;
    changed = true;
    file.PutBack(fd);
  }
  return changed;
}

std::string ProcessState::Restore() const {
  std::string changed = RestoreFloats();
  const auto note = NotingIn(&changed);
  const bool other_locale = locale_ != std::setlocale(LC_ALL, nullptr);
  note(other_locale, "locale");
  if (other_locale) std::setlocale(LC_ALL, locale_.c_str());
  if (WorkingDirectory() != directory_) {
    note(true, "working directory");
    if (chdir(directory_.c_str()) != 0) changed += " (not put back)";
  }
  // Timers before the mask: a signal held back would come through now.
  note(DisarmTimers(), "timers");
  note(RestoreHandlers(), "signal handlers");
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  if (!SameSignals(now, signals_)) {
    note(true, "signal mask");
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  }
  note(umask(file_mask_) != file_mask_, "mask of new files");
  note(RestoreEnvironment(), "environment");
  note(RestoreStreams(), "standard streams");
  return changed;
}

int64_t PeakRssKilobytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::max<int64_t>(usage.ru_maxrss, counts::PeakRssBeforeKilobytes());
}

std::string MappedFiles(std::initializer_list<pid_t> others) {
  std::set<std::string> files;
  AddFiles("self", &files);
  for (const pid_t other : others) AddFiles(std::to_string(other), &files);
  std::string lines;
  for (const std::string& file : files) lines += file + "\n";
  return lines;
}

uint64_t LibrariesLoaded() {
  uint64_t loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* count) {
        *static_cast<uint64_t*>(count) = info->dlpi_adds;
        return 1;  // each entry has the number
      },
      &loaded);
  return loaded;
}

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
  const auto note = NotingIn(&found);
  const Limits limits = LimitsNow();
  note(std::memcmp(&limits, &limits_, sizeof limits) != 0, "limits");
  struct stat root = {};
  stat("/", &root);
  const bool same_root =
      root.st_dev == root_.st_dev && root.st_ino == root_.st_ino;
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

void StartAtSameAddresses() {
  const auto now = static_cast<unsigned>(personality(0xffffffff));
  static_cast<void>(personality(now | ADDR_NO_RANDOMIZE));
}

void StayOnOneCore() {
  const cpu_set_t mine = Processors();
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (!CPU_ISSET(core, &mine)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    // Where it may not, times are noisier: they are taken all the same.
    static_cast<void>(sched_setaffinity(0, sizeof(one), &one));
    return;
  }
}

}  // namespace assay::worker
