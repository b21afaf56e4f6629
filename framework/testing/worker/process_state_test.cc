// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/process_state.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "framework/file/scratch_folder.h"

extern char** environ;

namespace assay::worker {
namespace {

void ArmTimer(__itimer_which which) {
  const struct itimerval hour = {{0, 0}, {3600, 0}};
  setitimer(which, &hour, nullptr);
}

/// Handles a signal as before, but for what is changed.
void ChangeHandling(int signal, void (*change)(struct sigaction&)) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  change(now);
  sigaction(signal, &now, nullptr);
}

#if defined(__x86_64__)
// The bits of the control words that Restore may change: all but the flags that
// exceptions raise.
std::pair<unsigned, unsigned> ControlWords() {
  fenv_t now;
  fegetenv(&now);
  return {now.__mxcsr & ~0x3FU, now.__control_word};
}

void ClearX87(unsigned bits) {
  fenv_t now;
  fegetenv(&now);
  now.__control_word &= static_cast<uint16_t>(~bits);
  fesetenv(&now);
}
#endif

struct Change {
  const char* name;
  const char* found;
  void (*make)();
};

const Change kChanges[] = {
    {"nothing", "", [] {}},
    {"rounding mode", "rounding mode", [] { std::fesetround(FE_UPWARD); }},
#if defined(__x86_64__)
    {"flush to zero", "treatment of denormals",
     [] { _mm_setcsr(_mm_getcsr() | 0x8000U); }},
    {"denormals are zero", "treatment of denormals",
     [] { _mm_setcsr(_mm_getcsr() | 0x0040U); }},
    {"traps", "floating-point traps",
     [] { _mm_setcsr(_mm_getcsr() & ~0x1000U); }},
    {"x87 in single precision", "x87 precision", [] { ClearX87(0x0300); }},
    {"traps of x87", "floating-point traps", [] { ClearX87(0x0001); }},
#endif
    {"flags alone", "", [] { std::feraiseexcept(FE_ALL_EXCEPT); }},
    {"locale", "locale", [] { std::setlocale(LC_NUMERIC, "C.UTF-8"); }},
    {"directory", "working directory", [] { EXPECT_EQ(chdir("/proc"), 0); }},
    {"alarm", "timers", [] { alarm(3600); }},
    {"virtual timer", "timers", [] { ArmTimer(ITIMER_VIRTUAL); }},
    {"profiling timer", "timers", [] { ArmTimer(ITIMER_PROF); }},
    {"handler", "signal handlers", [] { std::signal(SIGSEGV, [](int) {}); }},
    {"ignored signal", "signal handlers",
     [] { std::signal(SIGTERM, SIG_IGN); }},
    {"handler's flags", "signal handlers",
     [] {
       ChangeHandling(SIGPIPE, [](auto& now) { now.sa_flags |= SA_NODEFER; });
     }},
    {"children that stop", "signal handlers",
     [] {
       ChangeHandling(SIGCHLD, [](auto& now) { now.sa_flags |= SA_NOCLDSTOP; });
     }},
    {"handler's mask", "signal handlers",
     [] {
       ChangeHandling(SIGPIPE,
                      [](auto& now) { sigaddset(&now.sa_mask, SIGTERM); });
     }},
    {"blocked signal", "signal mask",
     [] {
       sigset_t one;
       sigemptyset(&one);
       sigaddset(&one, SIGTERM);
       pthread_sigmask(SIG_BLOCK, &one, nullptr);
     }},
    {"mask of new files", "mask of new files", [] { umask(0777); }},
    {"added variable", "environment",
     [] { setenv("ASSAY_TEST_ADDED", "1", 1); }},
    {"changed variable", "environment", [] { setenv("PATH", "/nowhere", 1); }},
    {"removed variable", "environment", [] { unsetenv("PATH"); }},
    {"no environment", "environment", [] { clearenv(); }},
    {"closed input", "standard streams", [] { close(STDIN_FILENO); }},
    {"replaced errors", "standard streams",
     [] {
       const int other = open("/dev/zero", O_RDWR);
       dup2(other, STDERR_FILENO);
       close(other);
     }},
    {"two at once", "rounding mode, mask of new files",
     [] {
       umask(0777);
       std::fesetround(FE_DOWNWARD);
     }},
};

// Kills: a part of the state that is not looked at, that is not put back, or
// that is taken for changed when it is not.
TEST(ProcessStateTest, EachChangeIsNamedAndPutBack) {
  setenv("PATH", "/usr/bin:/bin", 0);
  std::feclearexcept(FE_ALL_EXCEPT);
  const ProcessState before = ProcessState::Capture();
  for (const Change& change : kChanges) {
    change.make();
    EXPECT_EQ(before.Restore(), change.found) << change.name;
    EXPECT_EQ(before.Restore(), "") << change.name << " was not put back";
    EXPECT_EQ(ProcessState::Capture().Restore(), "") << change.name;
    EXPECT_LT(fcntl(1003, F_GETFD), 0) << "a copy of a stream is left open";
  }
}

// Kills: a handler put back as the system's own, where it was another.
TEST(ProcessStateTest, EveryWatchedSignalIsHandledAsBefore) {
  for (const int signal : ProcessState::kSignals) {
    const auto own = std::signal(signal, SIG_IGN);
    const ProcessState before = ProcessState::Capture();
    std::signal(signal, SIG_DFL);
    EXPECT_EQ(before.Restore(), "signal handlers") << signal;
    EXPECT_EQ(std::signal(signal, own), SIG_IGN) << signal;
  }
}

#if defined(__x86_64__)
// Kills: floating point put back as it usually is, where it was another.
TEST(ProcessStateTest, UnusualFloatingPointIsPutBack) {
  std::feclearexcept(FE_ALL_EXCEPT);  // they would trap
  fenv_t usual;
  fegetenv(&usual);
  // Results are flushed to zero, an overflow traps, x87 in single precision.
  _mm_setcsr((_mm_getcsr() | 0x8000U) & ~0x0400U);
  ClearX87(0x0308);
  const auto unusual = ControlWords();
  const ProcessState before = ProcessState::Capture();
  fesetenv(&usual);
  const std::string found = before.Restore();
  const auto restored = ControlWords();
  fesetenv(&usual);
  EXPECT_EQ(found,
            "treatment of denormals, floating-point traps, x87 precision");
  EXPECT_EQ(restored, unusual);
}
#endif

// Kills: the value of a name's second entry in place of that of its first,
// which getenv finds; an entry that is missed for ever.
TEST(ProcessStateTest, ANameThatOccursTwiceKeepsItsValue) {
  const ProcessState own = ProcessState::Capture();
  std::string first = "ASSAY_TEST_TWICE=1";
  std::string second = "ASSAY_TEST_TWICE=2";
  std::array<char*, 3> twice = {first.data(), second.data(), nullptr};
  environ = twice.data();
  const ProcessState before = ProcessState::Capture();
  setenv("ASSAY_TEST_ADDED", "1", 1);
  EXPECT_EQ(before.Restore(), "environment");
  EXPECT_STREQ(std::getenv("ASSAY_TEST_TWICE"), "1");
  EXPECT_EQ(before.Restore(), "") << "blamed for what could not be put back";
  EXPECT_EQ(own.Restore(), "environment");
}

// Kills: a stream that stays closed, so that the next file opened gets its
// number, where the copy was closed as well; one that is blamed again.
TEST(ProcessStateTest, AStreamWhoseCopyIsGoneTooIsOpenedAgainOrGoesNowhere) {
  const file::ScratchFolder folder;
  const auto file = folder.Write("log", "a");
  const int keep = dup(STDIN_FILENO);
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const int log = open(file.c_str(), O_WRONLY | O_APPEND);
  const int zero = open("/dev/zero", O_RDONLY);
  for (const auto& [stream, is_closed] :
       {std::pair(log, true), std::pair(log, false),
        std::pair(ends[1], true)}) {
    dup2(stream, STDIN_FILENO);
    const ProcessState before = ProcessState::Capture();
    for (int fd = 1000; fd < 1100; ++fd) close(fd);
    dup2(zero, STDIN_FILENO);
    if (is_closed) close(STDIN_FILENO);
    EXPECT_EQ(before.Restore(), "standard streams");
    EXPECT_EQ(before.Restore(), "") << "blamed for what could not be put back";
    EXPECT_EQ(write(STDIN_FILENO, "b", 1), 1);
    dup2(keep, STDIN_FILENO);
  }
  EXPECT_EQ(std::filesystem::file_size(file), 3U);
  for (const int fd : {keep, log, zero, ends[0], ends[1]}) close(fd);
}

// Kills: a file that is opened again under the number of a closed stream.
TEST(ProcessStateTest, AStreamIsOpenedAgainWhereTheOneBelowItIsClosed) {
  const file::ScratchFolder folder;
  const auto file = folder.Write("log", "a");
  const int input = dup(STDIN_FILENO);
  const int errors = dup(STDERR_FILENO);
  const int log = open(file.c_str(), O_WRONLY | O_APPEND);
  dup2(log, STDERR_FILENO);
  close(STDIN_FILENO);
  const ProcessState before = ProcessState::Capture();
  for (int fd = 1000; fd < 1100; ++fd) close(fd);
  close(STDERR_FILENO);
  const std::string found = before.Restore();
  const bool is_written = write(STDERR_FILENO, "b", 1) == 1;
  const bool is_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
  dup2(input, STDIN_FILENO);
  dup2(errors, STDERR_FILENO);
  EXPECT_EQ(found, "standard streams");
  EXPECT_TRUE(is_written);
  EXPECT_TRUE(is_closed) << "the closed stream leads to the file";
  EXPECT_EQ(std::filesystem::file_size(file), 2U);
  for (const int fd : {input, errors, log}) close(fd);
}

/// The leftovers that are found after `misdeed`, in a process of its own: some
/// cannot be undone.
std::string FoundAfter(const std::function<void()>& misdeed) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    const Leftovers before;
    misdeed();
    // With an end: what is left may keep the pipe open.
    const std::string found = before.Found() + "\n";
    [[maybe_unused]] const auto said =
        write(ends[1], found.data(), found.size());
    _exit(0);
  }
  close(ends[1]);
  std::string found(256, '\0');
  found.resize(static_cast<size_t>(
      std::max<ssize_t>(0, read(ends[0], found.data(), found.size()))));
  close(ends[0]);
  kill(-child, SIGKILL);  // and what it has left
  waitpid(child, nullptr, 0);
  return found.substr(0, found.find('\n'));
}

// Kills: files of another process, or of one's own, that are left out.
TEST(MappedFilesTest, AreThoseOfThisProcessAndOfOthers) {
  const auto files_with = [](const std::string& lines, const std::string& end) {
    return lines.find(end + "\n") != std::string::npos;
  };
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  const std::string other = std::filesystem::canonical("/bin/sleep");
  EXPECT_TRUE(files_with(MappedFiles(), own));
  EXPECT_FALSE(files_with(MappedFiles(), other));
  int ends[2] = {};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    execl(other.c_str(), "sleep", "60", nullptr);
    _exit(1);
  }
  close(ends[1]);
  char none = 0;
  EXPECT_EQ(read(ends[0], &none, 1), 0);  // it is executed
  close(ends[0]);
  const std::string both = MappedFiles({child});
  EXPECT_TRUE(files_with(both, own));
  EXPECT_TRUE(files_with(both, other));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// Kills: a file of data, or one that is gone, among those that are executed.
TEST(MappedFilesTest, AreThoseThatAreExecuted) {
  const file::ScratchFolder folder;
  const std::string file = folder.Write("code", "x");
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto is_told = [&] {
    return MappedFiles().find(file) != std::string::npos;
  };
  void* const data = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
  EXPECT_FALSE(is_told());
  void* const code =
      mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  EXPECT_TRUE(is_told());
  EXPECT_EQ(unlink(file.c_str()), 0);
  EXPECT_FALSE(is_told());
  for (void* const mapped : {data, code}) munmap(mapped, 1);
  close(fd);
}

TEST(LibrariesLoadedTest, TellsOfANewLibrary) {
  const uint64_t before = LibrariesLoaded();
  EXPECT_EQ(LibrariesLoaded(), before);
  void* const library = dlopen("libBrokenLocale.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(LibrariesLoaded(), before + 1);
  dlclose(library);
}

TEST(PeakRssTest, IsThatOfTheKernel) {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_GE(PeakRssKilobytes(), usage.ru_maxrss);
}

/// Opens files until the next one would have this number, counted from that
/// which it has now.
void OpenUpTo(int number) {
  const int first = open("/dev/null", O_RDONLY);
  while (open("/dev/null", O_RDONLY) < first + number - 1) {
  }
}

TEST(LeftoversTest, WhatCannotBePutBackIsFound) {
  const struct {
    std::string found;
    std::function<void()> done;
  } misdeeds[] = {
      {"", [] {}},
      {"limits, descriptors",
       [] {
         const struct rlimit few = {3, 3};
         setrlimit(RLIMIT_NOFILE, &few);
       }},
      {"", [] { OpenUpTo(64); }},  // as a library keeps
      {"descriptors", [] { OpenUpTo(65); }},
      {"scheduling",
       [] {
         const sched_param none = {};
         sched_setscheduler(0, SCHED_BATCH, &none);
       }},
      {"system calls",
       [] {
         sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
         const sock_fprog filter = {1, &all};
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
       }},
      {"timers",
       [] {
         timer_t timer = {};
         timer_create(CLOCK_MONOTONIC, nullptr, &timer);
       }},
      {"processors",
       [] {
         cpu_set_t one;
         CPU_ZERO(&one);
         CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
         sched_setaffinity(0, sizeof one, &one);
       }},
      {"threads",
       [] {
         std::thread([] {
           std::this_thread::sleep_for(std::chrono::hours(1));
         }).detach();
       }},
      {"processes",
       [] {
         if (fork() != 0) return;
         sleep(60);
         _exit(0);
       }},
      {"processes",
       [] {
         const pid_t child = fork();
         if (child == 0) _exit(0);
         siginfo_t ended = {};
         waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
       }},
  };
  for (const auto& misdeed : misdeeds) {
    if (misdeed.found == "processors" &&
        std::thread::hardware_concurrency() < 2)
      continue;  // one is all there are
    EXPECT_EQ(FoundAfter(misdeed.done), misdeed.found);
  }
}

TEST(LeftoversTest, WhatOnlyRootMayDoIsFound) {
  if (geteuid() != 0) GTEST_SKIP() << "this user is not root";
  EXPECT_EQ(FoundAfter([] { ASSERT_EQ(seteuid(1), 0); }), "user");
  EXPECT_EQ(FoundAfter([] { ASSERT_EQ(setegid(1), 0); }), "user");
  EXPECT_EQ(FoundAfter([] { ASSERT_EQ(chroot("/proc"), 0); }), "root folder");
}

TEST(ProcessorTest, AProcessStaysOnItsLastCore) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  const pid_t child = fork();
  if (child == 0) {
    StayOnOneCore();
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    size_t last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &before)) --last;
    _exit(CPU_COUNT(&now) == 1 && CPU_ISSET(last, &now) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ProcessorTest, ProgramsStartAtTheSameAddresses) {
  const pid_t child = fork();
  if (child == 0) {
    const int before = personality(0xffffffff);
    StartAtSameAddresses();
    const int wanted = before | ADDR_NO_RANDOMIZE;
    if (personality(0xffffffff) == wanted) _exit(0);
    // Some containers forbid it to everybody.
    _exit(personality(static_cast<unsigned>(wanted)) < 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(LeftoversTest, APoolThatWaitsIsNone) {
  EXPECT_EQ(FoundAfter([] {
              static std::mutex& mutex = *new std::mutex;
              static auto& never = *new std::condition_variable;
              std::thread([] {
                std::unique_lock lock(mutex);
                never.wait(lock, [] { return false; });
              }).detach();
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }),
            "");
}

}  // namespace
}  // namespace assay::worker
