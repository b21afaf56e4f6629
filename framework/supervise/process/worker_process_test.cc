// SPDX-License-Identifier: Apache-2.0
//
// A shell in the place of a worker: what it leaves behind, what it may take.

#include "framework/supervise/process/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/supervise/process/process_tree.h"

namespace assay::process {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WorkerProcessTest : public testing::Test {
 protected:
  std::unique_ptr<WorkerProcess> Start(const std::string& script,
                                       const WorkerLimits& limits = {}) {
    auto worker = WorkerProcess::Start({"/bin/sh", "-c", script}, log_, limits);
    EXPECT_TRUE(worker.ok()) << worker.status().ToString();
    return worker.ok() ? *std::move(worker) : nullptr;
  }

  static void WaitFor(WorkerProcess& worker) {
    while (!worker.Ended()) Nap();
  }

  static void Nap() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  /// The process id that a script wrote, once it is there.
  pid_t PidIn(const char* name) const {
    for (int wait = 0; wait < 1000; ++wait, Nap()) {
      const auto text = file::ReadFile(folder_.path() / name);
      if (text.ok() && text->ends_with("\n")) return std::stoi(*text);
    }
    ADD_FAILURE() << "no " << name;
    return 0;
  }

  std::string Log() const {
    const auto text = file::ReadFile(log_);
    return text.ok() ? *text : std::string();
  }

  std::string In(const char* name) const { return folder_.path() / name; }

  file::ScratchFolder folder_;
  fs::path log_ = folder_.path() / "log";
};

bool Lives(pid_t pid) { return kill(pid, 0) == 0; }

// Kills: a kill of the process group alone; an orphan left to init; a killed
// child that is never reaped.
TEST_F(WorkerProcessTest, WhatDescendsFromAWorkerEndsWithIt) {
  const struct {
    const char* name;
    const char* script;  // writes the last descendant's id into `pid`
    bool killed;         // or ends by itself
  } rows[] = {
      {"a child", "sleep 600 & echo $! > pid", false},
      {"in a session", "setsid sh -c 'echo $$ > pid; exec sleep 600' & true",
       false},
      {"an orphan's child",
       "setsid sh -c 'sh -c \"echo \\$\\$ > pid; sleep 600\" & sleep 600' & "
       "true",
       false},
      {"of a killed one",
       "setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600", true},
      {"without environment",
       "setsid env -i sh -c 'echo $$ > pid; exec sleep 600' & sleep 600", true},
  };
  for (const auto& row : rows) {
    fs::remove(folder_.path() / "pid");
    const auto worker =
        Start(StrCat("cd ", folder_.path().string(), "; ", row.script,
                     row.killed ? "" : "; while ! test -s pid; do :; done"));
    const pid_t pid = PidIn("pid");
    if (row.killed) {
      EXPECT_TRUE(Lives(pid)) << row.name;
      worker->Kill();
    } else {
      WaitFor(*worker);
    }
    EXPECT_FALSE(Lives(pid)) << row.name;
  }
}

// Kills: a clean-up that takes another worker's helper, or a child from before,
// for an orphan.
TEST_F(WorkerProcessTest, OnlyWhatDescendsFromItEndsWithAWorker) {
  const pid_t before = fork();
  if (before == 0) {
    pause();
    _exit(0);
  }
  const auto other = Start(StrCat("(setsid sh -c 'echo $$ > ", In("helper"),
                                  "; exec sleep 600' &); sleep 600"));
  const pid_t helper = PidIn("helper");
  const auto worker = Start("exit 0");
  WaitFor(*worker);
  EXPECT_TRUE(Lives(helper));
  other->Kill();
  EXPECT_FALSE(Lives(helper));
  kill(before, SIGKILL);
}

// Kills: a log that grows with what a backend prints, or that is cut unsaid.
TEST_F(WorkerProcessTest, ALogKeepsItsFirstMiB) {
  const auto worker = Start("echo begin; head -c 50000000 /dev/zero; echo end");
  WaitFor(*worker);
  const std::string log = Log();
  // A little text behind the cut stays.
  constexpr size_t kKept = 1 << 20, kSlack = 1 << 12;
  EXPECT_LE(log.size(), kKept + kSlack);
  EXPECT_TRUE(log.starts_with("begin\n"));
  EXPECT_THAT(log.substr(kKept), HasSubstr("[cut here"));
}

// Kills: a limit that is not set, or set for something else, or when the
// program has begun, which may have started others by then; a file beyond its
// limit that costs no more than an error.
TEST_F(WorkerProcessTest, AWorkerHasItsLimits) {
  WorkerLimits limits;
  limits.file_bytes = 4096;
  limits.memory_bytes = 64 << 20;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto worker = Start(StrCat("ulimit -d; ulimit -f; cat "
                                   "/proc/self/oom_score_adj; "
                                   "head -c 65536 /dev/zero > ",
                                   In("zeros"), "; echo $?"),
                            limits);
  std::signal(SIGXFSZ, handler);
  WaitFor(*worker);
  const std::string log = Log();
  EXPECT_THAT(log, HasSubstr(StrCat(128 + SIGXFSZ, "\n")));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_THAT(log, HasSubstr("65536\n"));
#endif
  EXPECT_THAT(log, HasSubstr("8\n1000\n"));  // blocks of 512 bytes
  EXPECT_EQ(fs::file_size(folder_.path() / "zeros"), 4096U);
}

// Kills: a run that a backend stops for ever.
TEST(StopWatchTest, AProcessThatIsStoppedGoesOn) {
  const pid_t child = fork();
  if (child == 0) {
    WakeWhenStopped();
    raise(SIGSTOP);
    _exit(7);
  }
  int status = 0;
  pid_t ended = 0;
  for (int wait = 0; wait < 400 && ended == 0; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ended = waitpid(child, &status, WNOHANG);
  }
  if (ended == 0) kill(child, SIGKILL);
  EXPECT_EQ(ended, child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(WorkerLimitsTest, TheShareIsOfAllWorkers) {
  EXPECT_GT(MemoryShare(1), int64_t{1} << 28);
  EXPECT_GE(MemoryShare(1), MemoryShare(2));
  EXPECT_EQ(MemoryShare(0), MemoryShare(1));
  EXPECT_EQ(MemoryShare(1000), MemoryShare(10000)) << "a floor";
}

// Kills: a tree over its limit that is not looked at.
TEST(MachineMemoryTest, IsNoLessThanThatOfATree) {
  const std::string written(size_t{64} << 20U, 'x');
  const int64_t own = TreeMemory({getpid()}, 0);
  EXPECT_GT(own, std::ssize(written));
  EXPECT_GE(MachineMemory(), own);
  EXPECT_LT(MachineMemory(), INT64_MAX);
}

}  // namespace
}  // namespace assay::process
