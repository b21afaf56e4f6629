// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/host_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ModuleUse kBackend = {ASSAY_NULL_MODULE, "null", ""};

std::unique_ptr<HostProcess> Started(bool forks) {
  wire::Arena::Open();
  HostProcess::End end;
  return Got(HostProcess::Start(ASSAY_HOST, kBackend, {}, forks, &end));
}

std::unique_ptr<HostProcess> Serving(bool forks) {
  auto host = Started(forks);
  HostProcess::End end;
  EXPECT_TRUE(host->Begin(&end).ok());
  return host;
}

bool Answers(HostProcess& host) {
  return host::RemoteBackend("null", host.link()).Inspect().ok();
}

/// Sends a signal to who serves, and waits until that is seen.
void End(HostProcess& host, int signal) {
  ASSERT_GT(host.pid(), 1);
  kill(host.pid(), signal);
  for (int i = 0; i < 10'000 && !host.link().EndedMeanwhile(); ++i) {
    usleep(1000);
  }
  ASSERT_TRUE(host.link().EndedMeanwhile());
}

/// True where a process ends within a while, as one does that was killed.
bool Ends(pid_t pid) {
  for (int i = 0; i < 10'000 && kill(pid, 0) == 0; ++i) usleep(1000);
  return kill(pid, 0) != 0;
}

bool HasChildren() { return waitpid(-1, nullptr, WNOHANG) >= 0; }

// Kills: a process that serves twice, or goes on when nobody has it.
TEST(HostProcessTest, EachBeginIsAProcessOfItsOwn) {
  for (const bool forks : {true, false}) {
    auto host = Started(forks);
    EXPECT_FALSE(host->serves());
    pid_t last = 0;
    for (const bool by_force : {false, true, false}) {
      HostProcess::End end;
      ASSERT_TRUE(host->Begin(&end).ok());
      EXPECT_TRUE(host->serves());
      EXPECT_TRUE(Answers(*host));
      const pid_t pid = host->pid();
      EXPECT_NE(pid, last);
      last = pid;
      if (by_force) {
        host->Kill();
      } else {
        end = host->Finish();
        EXPECT_EQ(end.wait_status, 0);
        EXPECT_TRUE(end.pid == pid || !forks);  // else that of the program
      }
      EXPECT_FALSE(host->serves());
      EXPECT_FALSE(Answers(*host));
      EXPECT_TRUE(Ends(pid));
    }
    host->Kill();
    host = Serving(forks);
    host.reset();
    EXPECT_FALSE(HasChildren());
  }
}

TEST(HostProcessTest, AnEndIsToldAsItWas) {
  for (const bool forks : {true, false}) {
    const auto host = Serving(forks);
    End(*host, SIGUSR1);
    EXPECT_EQ(WTERMSIG(host->Finish().wait_status), SIGUSR1);
  }
}

// Kills: a wait for ever where the program ends before it serves.
TEST(HostProcessTest, AProgramThatDoesNotServeSaysWhy) {
  HostProcess::End end;
  const auto start = [&](const char* program, const ModuleUse& use) {
    end = {};
    return HostProcess::Start(program, use, {}, true, &end).status();
  };
  EXPECT_THAT(start("/nowhere/host", kBackend),
              IsStatus(StatusCode::kInternal, "cannot start /nowhere/host: "));
  EXPECT_THAT(start(ASSAY_HOST, {ASSAY_NULL_MODULE, "other", ""}),
              IsStatus(StatusCode::kFailedPrecondition, "wanted other"));
  EXPECT_THAT(start("/bin/false", kBackend),
              IsStatus(StatusCode::kCancelled,
                       StrCat("the process of ", kBackend.file, " ended")));
  EXPECT_GT(end.pid, 1);
  EXPECT_EQ(end.wait_status, W_EXITCODE(1, 0));
  EXPECT_FALSE(HasChildren());
}

/// Cases on a host, of which a process serves two, and what is told of them.
class HostedCasesTest : public testing::Test {
 protected:
  std::vector<std::string> Ended() {
    std::vector<std::string> ended;
    journal::JournalReader reader(file_);
    EXPECT_TRUE(reader
                    .Poll([&](const journal::JournalEntry& entry) {
                      if (entry.kind != journal::FrameKind::kEnded) return;
                      ended.push_back(StrCat(entry.pid, " ", entry.status, " ",
                                             entry.text));
                    })
                    .ok());
    return ended;
  }
  /// Runs a case in which the backend does this.
  bool Run(const std::function<void()>& act = [] {}) {
    EXPECT_TRUE(cases_.Ready().ok());
    EXPECT_TRUE(Answers(*host_));
    act();
    end_ = cases_.End();
    record_ = {};
    return Got(cases_.Settle(&record_));
  }

  const file::ScratchFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "a.journal";
  const std::unique_ptr<HostProcess> host_ = Started(true);
  journal::Journal journal_ = Got(journal::Journal::Open(file_));
  std::vector<pid_t> noted_;
  HostedCases cases_{*host_, journal_, 2,
                     [this](pid_t pid) { noted_.push_back(pid); }};
  host::CaseEnd end_;
  record::Record record_;
};

TEST_F(HostedCasesTest, AProcessServesAsManyCasesAsItMay) {
  EXPECT_TRUE(Run());
  const pid_t first = host_->pid();
  EXPECT_EQ(record_.result.worker, StrCat(first));
  EXPECT_EQ(end_.changed, "");
  EXPECT_FALSE(end_.replace);
  EXPECT_GT(end_.n_libraries, 0U);
  EXPECT_GT(end_.peak_rss_kb, 100);
  EXPECT_TRUE(cases_.Leave().ok());
  EXPECT_EQ(cases_.pid(), first);
  EXPECT_TRUE(Run());
  EXPECT_THAT(noted_, ElementsAre(first, first))
      << "at the start, and with the first libraries";
  EXPECT_TRUE(cases_.Leave().ok());
  EXPECT_FALSE(host_->serves());
  EXPECT_TRUE(Run());
  EXPECT_NE(cases_.pid(), first);
  EXPECT_TRUE(cases_.Leave().ok());
  EXPECT_TRUE(host_->serves());
  EXPECT_TRUE(cases_.Close().ok());
  EXPECT_TRUE(cases_.Close().ok());
  EXPECT_FALSE(host_->serves());
  EXPECT_THAT(Ended(), ElementsAre()) << "they ended as they should";
}

// Kills: an end that is charged to another case, or to none.
TEST_F(HostedCasesTest, AnEndIsThatOfItsCase) {
  pid_t pid = 0;
  EXPECT_FALSE(Run([&] {
    pid = host_->pid();
    End(*host_, SIGKILL);
  }));
  const auto told = [&](const char* call) {
    return StrCat(pid, " ", W_EXITCODE(0, SIGKILL), " ", call);
  };
  const std::string in_case = told(wire::PhaseOf(wire::Call::kCaseEnd));
  EXPECT_THAT(Ended(), ElementsAre(in_case));
  EXPECT_TRUE(Run());
  pid = host_->pid();
  End(*host_, SIGKILL);
  EXPECT_TRUE(cases_.Ready().ok());
  const std::string between = told("");
  EXPECT_THAT(Ended(), ElementsAre(in_case, between));
  EXPECT_NE(host_->pid(), pid);
  pid = host_->pid();
  End(*host_, SIGKILL);
  EXPECT_TRUE(cases_.Close().ok());
  EXPECT_THAT(Ended(), ElementsAre(in_case, between, told("")));
}

TEST_F(HostedCasesTest, AHostThatMakesNoSenseIsEnded) {
  pid_t pid = 0;
  EXPECT_TRUE(Run([&] {
    pid = host_->pid();
    static_cast<void>(host_->link().Refuse(DataLoss("it makes no sense")));
  }));
  EXPECT_EQ(record_.result.outcome, record::Outcome::kError);
  EXPECT_EQ(record_.result.reason_code, ToString(Reason::kStateChanged));
  EXPECT_THAT(record_.result.message, HasSubstr("it makes no sense"));
  EXPECT_FALSE(host_->serves());
  EXPECT_TRUE(Ends(pid));
}

}  // namespace
}  // namespace assay::worker
