// SPDX-License-Identifier: Apache-2.0
//
// The commands that a run prints to repeat what it found, typed again where
// nothing of the run is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "framework/cli/program_fixture.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

using cli::Ran;
using testing::AllOf;
using testing::EndsWith;
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
    std::string options;                // of the run
    std::vector<const char*> outcomes;  // of one case each at least
  } rows[] = {
      {StrCat(ASSAY_MISBEHAVING,
              "+crash=Abs+exit=Acos+chdir=And+decline=Identity+hang=Neg "
              "--timeout 3 --filter 'id:node/Abs/test_abs or "
              "id:node/Acos/test_acos or id:node/And/test_and2d or "
              "id:node/Identity/test_identity or id:node/Neg/test_neg or "
              "id:node/Relu/test_relu'"),
       {"crash", "error", "fail", "timeout", "unsupported"}},
      {StrCat(ASSAY_MISBEHAVING, "+deadly=Acos", kFew), {"fail", "pass"}},
      {StrCat(ASSAY_MISBEHAVING, "+flaky=Identity", kFew), {"flaky"}},
      {StrCat(ASSAY_MISBEHAVING, "+late=Identity --attempts 9", kFew),
       {"flaky"}},
      {StrCat(ASSAY_MISBEHAVING, "+poison=Abs", kFew), {"flaky"}},
      {StrCat(ASSAY_MISBEHAVING, "+poison=Identity --shuffle --seed 3", kFew),
       {"error"}},
      {StrCat(ASSAY_MISBEHAVING, "+third=Identity", kFew), {"flaky"}},
      {mine + kFew, {"xpass"}},
      {theirs + kFew, {"xfail"}},
      {StrCat("faulty+mutant=gradient:sign:Sub.1 --seed 7 --filter "
              "'id:gradcheck/Sub/test_sub_bcast#redrawn.float32'"),
       {"fail"}},
      {StrCat(ASSAY_MISBEHAVING, " --filter 'suite:contract and op:bind'"),
       {"fail"}},
  };
  // At night all commands are typed, else the first of each kind.
  const bool is_night = std::getenv("ASSAY_EVERY_COMMAND") != nullptr;
  std::set<std::string> kinds;
  for (const auto& row : rows) {
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::remove(folder_ / "tried");
    std::filesystem::remove(folder_ / "late");
    const Ran ran = RunOf(row.options);
    std::set<std::string> seen;
    for (const record::ResultRow& result : Rows("run/results.csv")) {
      const std::string outcome(ToString(result.outcome));
      seen.insert(outcome);
      const std::string options = result.repro.substr(result.repro.rfind('\''));
      const std::string kind =
          StrCat(outcome, " ", result.reason_code, options);
      if (!kinds.insert(kind).second && !is_night) continue;
      EXPECT_EQ(OutcomeAgain(result), outcome) << result.repro;
    }
    for (const char* const outcome : row.outcomes) {
      EXPECT_TRUE(seen.contains(outcome))
          << row.options << " " << outcome << "\n"
          << ran.output;
    }
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

// Kills: a command that is offered and refuses the case, or one that would take
// it and is not.
TEST_F(RepeatLineTest, OffersTheCommandsThatTakeTheCase) {
  RunOf(ASSAY_MISBEHAVING,
        "+poison=Abs --filter 'id:node/Abs/test_abs or "
        "id:node/Identity/test_identity or (suite:contract and op:bind)'");
  int n_programs = 0;
  for (const record::ResultRow& row : Rows("run/results.csv")) {
    const std::string said =
        Assay("explain '", row.test_id, "' --run run").output;
    for (const std::string verb : {"shrink", "capsule"}) {
      const bool is_offered = said.find("assay " + verb) != std::string::npos;
      n_programs += is_offered ? 0 : 1;
      if (is_offered && verb == "shrink") continue;  // which takes long
      std::filesystem::remove_all(folder_ / "small");
      const cli::Ran ran =
          Assay(verb, " '", row.test_id, "' --run run --out small");
      EXPECT_EQ(ran.exit_code != 2, is_offered) << said << ran.output;
    }
  }
  EXPECT_GT(n_programs, 2);
}

// Kills: a crash that is nowhere; a hint at a log in which nothing stands.
TEST_F(RepeatLineTest, ACrashSaysWhereItWas) {
  const std::string backend = StrCat(ASSAY_MISBEHAVING, "+");
  RunOf(backend, "crash=Identity --backend ", backend,
        "exit=Identity --backend ", backend,
        "leave=Identity --repeats 0 --filter id:node/Identity/test_identity");
  const auto rows = Rows("run/results.csv");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[0].message,
              AllOf(HasSubstr("ended: signal SIGABRT in load, at "),
                    HasSubstr("misbehaving.so(")));
  EXPECT_THAT(rows[1].message,
              EndsWith("ended: exit code 0, too early in load"));
  EXPECT_THAT(rows[2].message, HasSubstr("ended: exit code 3 in load, at "));
}

}  // namespace
}  // namespace assay::run
