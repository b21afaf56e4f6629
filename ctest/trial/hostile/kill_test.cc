// SPDX-License-Identifier: Apache-2.0
//
// SIGKILL at random moments, to a worker or to the supervisor: no finished
// verdict is lost, and what a run says at its end is what an undisturbed one
// says. The seed is printed; ASSAY_KILL_SEED repeats it. With
// ASSAY_KILL_SHARE=5 a fifth of the kills.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/supervise/process/process_tree.h"

namespace assay::hostile {
namespace {

namespace fs = std::filesystem;

constexpr int kNapMs = 1;
constexpr int kWorkerKills = 30;
constexpr int kSupervisorKills = 10;
constexpr int kCasesAtLeast = 200;

uint32_t Seed() {
  const char* given = std::getenv("ASSAY_KILL_SEED");
  const uint32_t seed = given != nullptr
                            ? static_cast<uint32_t>(std::atoi(given))
                            : std::random_device()();
  std::printf("seed: ASSAY_KILL_SEED=%u\n", seed);
  return seed;
}

/// `all`, or the share of it that is asked for.
int KillsOf(int all) {
  const char* given = std::getenv("ASSAY_KILL_SHARE");
  const int kills = given != nullptr ? all / std::atoi(given) : all;
  EXPECT_GE(kills, 2) << "too few to tell anything";
  return kills;
}

std::vector<std::string> Command(const char* jobs) {
  // Each case naps, so that there is something to interrupt.
  return RunOf(
      {StrCat(ModuleOf("echo"), "+nap_us=", kNapMs * 1000)},
      {"--filter", "op:Cast or op:Resize or op:Attention", "--jobs", jobs});
}

struct Undisturbed {
  CaseVerdicts verdicts;
  /// The least time that two workers nap, from the start of the first.
  double milliseconds = 0;
};

Undisturbed RunUndisturbed() {
  const file::ScratchFolder folder;
  AssayRun run(folder.path(), Command("2"));
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  CaseVerdicts verdicts = VerdictsOf(folder.path() / "run");
  const double naps = kNapMs * static_cast<double>(verdicts.size()) / 2;
  return {std::move(verdicts), naps};
}

/// The workers below a run, which has other children too.
std::vector<pid_t> WorkersOf(const AssayRun& run) {
  std::vector<pid_t> workers = process::DescendantsOf(run.pid());
  std::erase_if(workers, [](pid_t pid) {
    const auto name = file::ReadFile(StrCat("/proc/", pid, "/comm"));
    return !name.ok() || !name->starts_with("assay-worker");
  });
  return workers;
}

void SleepFor(double milliseconds) {
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::milli>(milliseconds));
}

/// Cases whose verdict is not the undisturbed one; every case has one.
std::vector<CaseVerdict> Differences(const CaseVerdicts& clean,
                                     const CaseVerdicts& seen) {
  std::vector<CaseVerdict> different;
  EXPECT_EQ(seen.size(), clean.size());
  for (const auto& [key, verdict] : clean) {
    const auto found = seen.find(key);
    if (found == seen.end()) {
      ADD_FAILURE() << key.second << " was lost";
    } else if (found->second != verdict) {
      different.push_back(found->second);
    }
  }
  return different;
}

TEST(KillTest, AKilledWorkerCostsAtMostTheOpenCase) {
  const Undisturbed clean = RunUndisturbed();
  ASSERT_GE(clean.verdicts.size(), kCasesAtLeast);
  std::mt19937 random(Seed());
  std::uniform_real_distribution<double> moment(0, clean.milliseconds);
  const int kills = KillsOf(kWorkerKills);
  int killed = 0;
  int open = 0;
  for (int i = 0; i < kills; ++i) {
    const file::ScratchFolder folder;
    AssayRun run(folder.path(), Command("2"));
    while (run.Running() && WorkersOf(run).empty()) SleepFor(1);
    SleepFor(moment(random));
    const std::vector<pid_t> workers = WorkersOf(run);
    if (!workers.empty()) {
      kill(workers[random() % workers.size()], SIGKILL);
      ++killed;
    }
    ASSERT_EQ(run.Wait(), 1) << run.Output();
    EXPECT_TRUE(run.Leftovers().empty());
    const auto different =
        Differences(clean.verdicts, VerdictsOf(folder.path() / "run"));
    EXPECT_LE(different.size(), 1U);
    for (const CaseVerdict& verdict : different) {
      EXPECT_TRUE(verdict.outcome == "crash" || verdict.outcome == "flaky")
          << verdict.outcome << ": " << verdict.message;
    }
    open += static_cast<int>(different.size());
  }
  std::printf("%d workers killed, %d of them with a case open\n", killed, open);
  EXPECT_GE(killed, kills / 2) << "the moments missed the workers";
}

TEST(KillTest, AKilledSupervisorIsResumedToTheSameVerdicts) {
  const Undisturbed clean = RunUndisturbed();
  std::mt19937 random(Seed());
  std::uniform_real_distribution<double> moment(0, clean.milliseconds);
  const int kills = KillsOf(kSupervisorKills);
  int resumed = 0;
  for (int i = 0; i < kills; ++i) {
    const file::ScratchFolder folder;
    AssayRun run(folder.path(), Command("2"));
    // From when there is something to go on with.
    while (run.Running() && !fs::exists(folder.path() / "run/records")) {
      SleepFor(1);
    }
    SleepFor(moment(random));
    kill(run.pid(), SIGKILL);
    run.Wait();
    for (int wait = 0; wait < 1000 && !run.Leftovers().empty(); ++wait) {
      SleepFor(2);
    }
    EXPECT_TRUE(run.Leftovers().empty()) << "workers outlive the supervisor";
    if (!fs::exists(folder.path() / "run/summary.json")) ++resumed;
    AssayRun rest(folder.path(), {"run", "--resume", "run", "--jobs", "1",
                                  "--repeats", "0", "--no-report"});
    ASSERT_EQ(rest.Wait(), 1) << rest.Output();
    EXPECT_TRUE(
        Differences(clean.verdicts, VerdictsOf(folder.path() / "run")).empty());
  }
  std::printf("%d of %d supervisors killed before their end\n", resumed, kills);
  EXPECT_GE(resumed, kills / 2);
}

}  // namespace
}  // namespace assay::hostile
