// SPDX-License-Identifier: Apache-2.0
//
// Every module of forged_times/ in the suite time: none that forges is
// accepted, and each has the outcome that its comment wants; those that are
// honest pass. With ASSAY_CHOSEN_BEHAVIOURS, names with spaces between, those
// alone and the honest ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"

namespace assay::hostile {
namespace {

using testing::HasSubstr;

constexpr const char* kCase = "time/Neg/test_neg";

bool IsHonest(const Behaviour& behaviour) { return behaviour.tries.empty(); }

/// Those that are to be run, with the honest ones among them.
std::vector<Behaviour> ForgeriesToRun() {
  std::vector<Behaviour> behaviours = ChosenBehaviours(ASSAY_FORGED_TIMES);
  for (Behaviour& each : BehavioursIn(ASSAY_FORGED_TIMES)) {
    const bool is_there =
        std::ranges::count(behaviours, each.name, &Behaviour::name) > 0;
    if (IsHonest(each) && !is_there) behaviours.push_back(std::move(each));
  }
  return behaviours;
}

TEST(ForgedTimesTest, EachOneSaysWhatMustBecomeOfIt) {
  const auto all = BehavioursIn(ASSAY_FORGED_TIMES);
  EXPECT_GE(std::ranges::count_if(all, std::not_fn(IsHonest)), 19);
  for (const Behaviour& each : all) {
    EXPECT_EQ(each.outcome == "pass", IsHonest(each)) << each.name;
    EXPECT_EQ(each.message.empty(), IsHonest(each)) << each.name;
  }
}

/// Noise leaves open whose clock is right: nobody passes by it, and nobody is
/// red.
bool IsUndecided(const CaseVerdict& found) {
  return found.outcome == "unsupported" &&
         found.message.starts_with("the machine was not quiet: ");
}

// Kills: a check of perf/times/timer.cc that one of them gets past.
TEST(ForgedTimesTest, NoneIsAccepted) {
  const auto behaviours = ForgeriesToRun();
  ASSERT_GE(behaviours.size(), 2U);  // both may be drawn
  std::vector<std::string> modules;
  for (const Behaviour& each : behaviours) {
    modules.push_back(ModuleOf(each.module) + each.settings());
  }
  const file::ScratchFolder folder;
  AssayRun run(folder.path(),
               RunOf(modules, {"--suite", "time", "--filter",
                               StrCat("id:", kCase), "--jobs", "1"}));
  const int code = run.Wait();
  EXPECT_TRUE(run.Leftovers().empty());
  const CaseVerdicts verdicts = VerdictsOf(folder.path() / "run");
  ASSERT_EQ(verdicts.size(), behaviours.size()) << run.Output();
  std::puts(
      "\n| forgery | what it tries | outcome | why |\n"
      "| --- | --- | --- | --- |");
  bool is_red = false;
  for (const Behaviour& each : behaviours) {
    SCOPED_TRACE(each.name);
    const CaseVerdict& found = verdicts.at({each.instance(), kCase});
    is_red |= found.outcome == "fail" || found.outcome == "suspect";
    if (each.outcome == "fail" || !IsUndecided(found)) {
      EXPECT_EQ(found.outcome, each.outcome) << found.message;
      EXPECT_THAT(found.message, HasSubstr(each.message));
    }
    std::printf("| %s | %s | %s | %s |\n", each.name.c_str(),
                each.tries.c_str(), found.outcome.c_str(),
                found.message.c_str());
  }
  EXPECT_EQ(code, is_red ? 1 : 0) << run.Output();
}

}  // namespace
}  // namespace assay::hostile
