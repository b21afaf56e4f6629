// SPDX-License-Identifier: Apache-2.0
//
// The commands that a run prints to repeat what it found, typed again where
// nothing of the run is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "framework/cli/program_fixture.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

using cli::Ran;
using testing::HasSubstr;

constexpr const char* kFew =
    " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos or "
    "id:node/And/test_and2d or id:node/Identity/test_identity'";

class RepeatLineTest : public cli::ProgramTest {
 protected:
  /// The outcome that the command of a row gives in an empty folder.
  std::string OutcomeAgain(const record::ResultRow& row) const {
    std::filesystem::remove_all(folder_ / "fresh");
    std::filesystem::create_directories(folder_ / "fresh");
    std::string command = row.repro;
    EXPECT_TRUE(command.starts_with("assay run ")) << command;
    command.replace(0, std::string("assay").size(), cli::Program());
    const Ran ran = Shell("cd fresh && ", command, " --no-report --out again");
    const auto outcomes = Outcomes("fresh/again");
    const auto found = outcomes.find(row.test_id);
    return found == outcomes.end() ? ran.output : found->second;
  }
};

// Kills: a command that runs a case alone which fails behind others; one
// attempt of a case that fails at times; a limit, a seed or a line of policy
// that the command forgets.
TEST_F(RepeatLineTest, EachCommandGivesTheSameOutcome) {
  const std::string mine =
      (folder_ / ReferenceWith("expectations.txt",
                               "expect fail where op:Abs because \"x\"\n"
                               "expect fail where op:Acos because \"x\"\n"))
          .lexically_normal();
  const std::string theirs = (folder_ / "misbehaving.so").string();
  std::filesystem::create_symlink(ASSAY_MISBEHAVING, theirs);
  std::filesystem::create_directories(folder_ / "misbehaving.policy");
  std::ofstream(folder_ / "misbehaving.policy/expectations.txt")
      << "expect fail where op:Abs because \"x\"\n";
  const struct {
    std::string options;  // of the run
    const char* outcome;  // of one case at least
  } rows[] = {
      {StrCat(ASSAY_MISBEHAVING, kFew), "fail"},
      {StrCat(ASSAY_MISBEHAVING, "+crash=Identity", kFew), "crash"},
      {StrCat(ASSAY_MISBEHAVING, "+exit=Identity", kFew), "crash"},
      {StrCat(ASSAY_MISBEHAVING, "+chdir=Identity", kFew), "error"},
      {StrCat(ASSAY_MISBEHAVING, "+hang=Identity --timeout 3", kFew),
       "timeout"},
      {StrCat(ASSAY_MISBEHAVING, "+decline=Identity", kFew), "unsupported"},
      {StrCat(ASSAY_MISBEHAVING, "+deadly=And", kFew), "fail"},
      {StrCat(ASSAY_MISBEHAVING, "+flaky=Identity", kFew), "flaky"},
      {StrCat(ASSAY_MISBEHAVING, "+late=Identity --attempts 9", kFew), "flaky"},
      {StrCat(ASSAY_MISBEHAVING, "+poison=Abs", kFew), "flaky"},
      {StrCat(ASSAY_MISBEHAVING, "+poison=Identity --shuffle --seed 3", kFew),
       "error"},
      {StrCat(ASSAY_MISBEHAVING, "+third=Identity", kFew), "flaky"},
      {mine + kFew, "xpass"},
      {theirs + kFew, "xfail"},
      {StrCat("faulty+mutant=gradient:sign:Sub.1 --seed 7 --filter "
              "'id:gradcheck/Sub/test_sub_bcast#redrawn.float32'"),
       "fail"},
      {StrCat(ASSAY_MISBEHAVING, " --filter 'suite:contract and op:bind'"),
       "fail"},
  };
  for (const auto& row : rows) {
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::remove(folder_ / "tried");
    std::filesystem::remove(folder_ / "late");
    const Ran ran = RunOf(row.options);
    bool is_seen = false;
    for (const record::ResultRow& result : Rows("run/results.csv")) {
      const std::string outcome(ToString(result.outcome));
      is_seen |= outcome == row.outcome;
      EXPECT_EQ(OutcomeAgain(result), outcome) << result.repro;
    }
    EXPECT_TRUE(is_seen) << row.options << ran.output;
  }
}

// Kills: all that was run before, where two cases are enough.
TEST_F(RepeatLineTest, OfTheCasesBeforeThoseAreNamedThatItTakes) {
  RunOf(ASSAY_MISBEHAVING, "+third=Identity", kFew);
  for (const record::ResultRow& row : Rows("run/attempts.csv")) {
    if (row.after.empty()) continue;
    EXPECT_EQ(row.test_id, "node/Identity/test_identity");
    EXPECT_EQ(row.after, "node/Acos/test_acos node/And/test_and2d");
  }
  EXPECT_THAT(Text("run/results.csv"),
              HasSubstr("error after 2 cases, from node/Acos/test_acos to "
                        "node/And/test_and2d; at first error"));
}

// Kills: a command that is offered and refuses the case.
TEST_F(RepeatLineTest, OffersTheCommandsThatTakeTheCase) {
  RunOf(ASSAY_MISBEHAVING,
        "+poison=Abs --filter 'id:node/Abs/test_abs or "
        "id:node/Identity/test_identity or (suite:contract and op:bind)'");
  int n_programs = 0;
  for (const record::ResultRow& row : Rows("run/results.csv")) {
    const std::string said =
        Assay("explain '", row.test_id, "' --run run").output;
    for (const char* verb : {"shrink", "capsule"}) {
      if (said.find(StrCat("assay ", verb)) != std::string::npos) continue;
      // Not offered: it is refused.
      ++n_programs;
      EXPECT_THAT(Assay(verb, " '", row.test_id, "' --run run --out small"),
                  cli::Ended(2))
          << said;
    }
  }
  EXPECT_GT(n_programs, 2);
}

// Kills: a crash that is nowhere; a hint at a log in which nothing stands.
TEST_F(RepeatLineTest, ACrashSaysWhereItWas) {
  const struct {
    const char* setting;
    const char* says;
  } rows[] = {
      {"crash", "ended: signal SIGABRT in load, at "},
      {"crash", "misbehaving.so("},
      {"exit", "ended: exit code 0, too early in load$"},
      {"leave", "ended: exit code 3 in load, at "},
  };
  for (const auto& row : rows) {
    std::filesystem::remove_all(folder_ / "run");
    RunOf(ASSAY_MISBEHAVING, "+", row.setting, "=Identity --repeats 0", kFew);
    for (const record::ResultRow& result : Rows("run/results.csv")) {
      if (result.test_id != "node/Identity/test_identity") continue;
      EXPECT_THAT(result.message + "$", HasSubstr(row.says));
    }
  }
}

}  // namespace
}  // namespace assay::run
