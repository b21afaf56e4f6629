// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/process_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <string>
#include <utility>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "framework/file/scratch_folder.h"

extern char** environ;

namespace assay::worker {
namespace {

void ArmTimer(__itimer_which which) {
  const struct itimerval hour = {{0, 0}, {3600, 0}};
  setitimer(which, &hour, nullptr);
}

#if defined(__x86_64__)
// What Restore may change of them: all but the flags that exceptions raise.
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
  void (*make)();
  const char* found;
};

const Change kChanges[] = {
    {"nothing", [] {}, ""},
    {"rounding mode", [] { std::fesetround(FE_UPWARD); }, "rounding mode"},
#if defined(__x86_64__)
    {"flush to zero", [] { _mm_setcsr(_mm_getcsr() | 0x8000U); },
     "treatment of denormals"},
    {"denormals are zero", [] { _mm_setcsr(_mm_getcsr() | 0x0040U); },
     "treatment of denormals"},
    {"traps", [] { _mm_setcsr(_mm_getcsr() & ~0x1000U); },
     "floating-point traps"},
    {"x87 in single precision", [] { ClearX87(0x0300); }, "x87 precision"},
    {"traps of x87", [] { ClearX87(0x0001); }, "floating-point traps"},
#endif
    {"flags alone", [] { std::feraiseexcept(FE_ALL_EXCEPT); }, ""},
    {"locale", [] { std::setlocale(LC_NUMERIC, "C.UTF-8"); }, "locale"},
    {"directory", [] { EXPECT_EQ(chdir("/proc"), 0); }, "working directory"},
    {"alarm", [] { alarm(3600); }, "timers"},
    {"virtual timer", [] { ArmTimer(ITIMER_VIRTUAL); }, "timers"},
    {"profiling timer", [] { ArmTimer(ITIMER_PROF); }, "timers"},
    {"handler", [] { std::signal(SIGSEGV, [](int) {}); }, "signal handlers"},
    {"ignored signal", [] { std::signal(SIGTERM, SIG_IGN); },
     "signal handlers"},
    {"handler's flags",
     [] {
       struct sigaction now = {};
       sigaction(SIGPIPE, nullptr, &now);
       now.sa_flags |= SA_NODEFER;
       sigaction(SIGPIPE, &now, nullptr);
     },
     "signal handlers"},
    {"children that stop",
     [] {
       struct sigaction now = {};
       sigaction(SIGCHLD, nullptr, &now);
       now.sa_flags |= SA_NOCLDSTOP;
       sigaction(SIGCHLD, &now, nullptr);
     },
     "signal handlers"},
    {"handler's mask",
     [] {
       struct sigaction now = {};
       sigaction(SIGPIPE, nullptr, &now);
       sigaddset(&now.sa_mask, SIGTERM);
       sigaction(SIGPIPE, &now, nullptr);
     },
     "signal handlers"},
    {"blocked signal",
     [] {
       sigset_t one;
       sigemptyset(&one);
       sigaddset(&one, SIGTERM);
       pthread_sigmask(SIG_BLOCK, &one, nullptr);
     },
     "signal mask"},
    {"mask of new files", [] { umask(0777); }, "mask of new files"},
    {"added variable", [] { setenv("ASSAY_TEST_ADDED", "1", 1); },
     "environment"},
    {"changed variable", [] { setenv("PATH", "/nowhere", 1); }, "environment"},
    {"removed variable", [] { unsetenv("PATH"); }, "environment"},
    {"no environment", [] { clearenv(); }, "environment"},
    {"closed input", [] { close(STDIN_FILENO); }, "standard streams"},
    {"replaced errors",
     [] {
       const int other = open("/dev/zero", O_RDWR);
       dup2(other, STDERR_FILENO);
       close(other);
     },
     "standard streams"},
    {"two at once",
     [] {
       umask(0777);
       std::fesetround(FE_DOWNWARD);
     },
     "rounding mode, mask of new files"},
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

}  // namespace
}  // namespace assay::worker
