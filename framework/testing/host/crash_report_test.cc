// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/crash_report.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "framework/core/text.h"
#include "framework/testing/host/end_like.h"

namespace assay::host {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr int kSignals[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                            SIGABRT, SIGTRAP, SIGSYS};

struct End {
  int wait_status = 0;
  std::string text;  // that it printed
};

/// How a process ends that does this with reports, and `before` without.
End EndOf(
    const std::function<void()>& act,
    const std::function<void()>& before = [] {}) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    // Those of a sanitizer apart.
    for (const int signal : kSignals) std::signal(signal, SIG_DFL);
    before();
    ReportCrashes();
    act();
    _exit(EXIT_SUCCESS);
  }
  End end = {WaitFor(child), std::string(1 << 15, '\0')};
  close(ends[1]);
  const ssize_t size = read(ends[0], end.text.data(), end.text.size());
  close(ends[0]);
  end.text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return end;
}

/// Takes all of the stack.
[[gnu::noinline]] int Deeper(volatile int* depth) {
  if (*depth < 0) return 0;
  volatile int here[64] = {*depth + 1};
  return Deeper(here) + here[0];
}
void Overflow() {
  volatile int depth = 0;
  depth = Deeper(&depth);
}

// Kills: a signal without a report, or one that is kept from whoever waits.
TEST(CrashReportTest, EachSignalIsToldAndEndsTheProcess) {
  for (const int signal : kSignals) {
    const End end = EndOf([signal] { raise(signal); });
    EXPECT_TRUE(WIFSIGNALED(end.wait_status));
    EXPECT_EQ(WTERMSIG(end.wait_status), signal);
    const std::string name = StrCat("SIG", sigabbrev_np(signal));
    EXPECT_THAT(end.text, StartsWith(StrCat("assay crash: ", name, "\n  libc")))
        << "the innermost frame is where the signal came";
    EXPECT_THAT(end.text, testing::EndsWith("\nassay crash: end\n"));
  }
  const End asked = EndOf([] { raise(SIGTERM); });
  EXPECT_EQ(WTERMSIG(asked.wait_status), SIGTERM);
  EXPECT_EQ(asked.text, "") << "somebody else ended it";
}

// Kills: an end that is told although the backend had no part in it.
TEST(CrashReportTest, AnExitIsToldWithinAPhase) {
  const struct {
    const char* phase;
    const char* text;
  } rows[] = {
      {nullptr, "^$"},
      {"load", "^assay crash: exit in load\n  libc"},
  };
  for (const auto& row : rows) {
    const End end = EndOf([&] {
      EnterPhase("inspect");
      EnterPhase(row.phase);
      std::exit(3);
    });
    EXPECT_EQ(WEXITSTATUS(end.wait_status), 3);
    EXPECT_THAT(end.text, ContainsRegex(row.text));
  }
}

TEST(CrashReportTest, WhoLooksAfterASignalAlreadyGoesOnToDoSo) {
  const End end = EndOf([] { raise(SIGSEGV); },
                        [] { std::signal(SIGSEGV, [](int) { _exit(9); }); });
  EXPECT_EQ(WEXITSTATUS(end.wait_status), 9);
  EXPECT_EQ(end.text, "");
}

// Kills: a report that needs the stack which is full; the frames of our own
// programs below a backend's; an address that nobody can look up.
TEST(CrashReportTest, FramesAreToldUpToOurOwnPrograms) {
  const struct {
    const char* program;
    int n_frames;
  } rows[] = {{"assay-host", 1}, {"assay-worker", 1}, {"other", 10}};
  for (const auto& [program, n_frames] : rows) {
    const End end = EndOf([program = program] {
      std::strcpy(program_invocation_name, program);  // which dladdr reads
      EnterPhase("forward");
      Overflow();
    });
    EXPECT_EQ(WTERMSIG(end.wait_status), SIGSEGV);
    const std::string frame =
        StrCat("(  ", program, "\\([^)]*\\+0x[0-9a-f]{1,8}\\)\n)");
    EXPECT_THAT(end.text,
                MatchesRegex(StrCat("assay crash: SIGSEGV in forward\n", frame,
                                    "{", n_frames, "}assay crash: end\n")));
    Dl_info info = {};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&Overflow), &info), 0);
    if (end.text.find("(+0x") == std::string::npos) continue;  // has a name
    const uint64_t offset =
        std::stoull(end.text.substr(end.text.find("(+0x") + 2), nullptr, 16);
    const auto begin = reinterpret_cast<uintptr_t>(&Deeper) -
                       reinterpret_cast<uintptr_t>(info.dli_fbase);
    EXPECT_GE(offset, begin);
    EXPECT_LT(offset, begin + 256);
  }
}

TEST(CrashReportTest, CodeOfNoFileIsAQuestionMark) {
  void* const page =
      mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const End end = EndOf([&] { reinterpret_cast<void (*)()>(page)(); });
  munmap(page, 1);
  EXPECT_EQ(WTERMSIG(end.wait_status), SIGSEGV);
  EXPECT_THAT(end.text, HasSubstr("SIGSEGV\n  ?\n"));
}

TEST(CrashReportTest, ALongLineIsCut) {
  static const std::string phase(2000, 'x');
  const End end = EndOf([] {
    EnterPhase(phase.c_str());
    raise(SIGABRT);
  });
  EXPECT_EQ(end.text.find('\n'), 1023U);
}

}  // namespace
}  // namespace assay::host
