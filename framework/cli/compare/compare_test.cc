// SPDX-License-Identifier: Apache-2.0
//
// assay compare, and the suite of times, from outside. No test asks how long
// something takes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "framework/cli/program_fixture.h"
#include "framework/testing/times/row.h"

namespace assay::compare {
namespace {

using cli::Ended;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CompareTest : public cli::ProgramTest {
 protected:
  /// Beside each other at a threshold that no noise reaches.
  template <class... Parts>
  cli::Ran Compare(const Parts&... words) const {
    return Assay("compare --budget 0.5 --threshold 9 ", words...);
  }
};

constexpr const char* kAbs = " --filter id:compare/Abs/test_abs ";

TEST_F(CompareTest, ABackendBesideItselfIsTheSame) {
  const cli::Ran ran = Compare("reference reference --out out", kAbs);
  EXPECT_THAT(ran, Ended(0, "reference beside reference, 1 case;",
                         "1 same, 0 better, 0 worse, 0 unsure",
                         "written to out: compare.csv\n"));
  EXPECT_LE(cli::Widest(ran.output), 80U);
  EXPECT_THAT(ran.output, Not(HasSubstr("Declined")));
  EXPECT_THAT(Text("out/compare.csv"),
              HasSubstr("\ncompare/Abs/test_abs,reference,reference,same,"));
}

// Kills: a wrong output that is fast and therefore good; cases that are lost.
TEST_F(CompareTest, WhatIsWrongIsRedAndWhatIsDeclinedIsCounted) {
  EXPECT_THAT(Compare("reference faulty+mutant=value", kAbs),
              Ended(1, "compare/Abs/test_abs: fail: ", "0 cases"));
  const cli::Ran base = Compare("faulty+mutant=value reference", kAbs);
  EXPECT_THAT(base, Ended(0, "0 cases",
                          "Declined by one of the two, or undecided: 1."));
  std::filesystem::create_symlink(ASSAY_FEW_OPERATORS,
                                  folder_ / "reference.so");
  EXPECT_THAT(
      Compare("reference ./reference.so --filter "
              "'id:compare/Abs/test_abs or id:compare/Add/test_add "
              "or id:compare/Sub/test_sub' --tier nightly"),
      Ended(0, ", 1 case;", "Declined by one of the two, or undecided: 2."));
}

// Kills: a folder of a comparison that nobody can look at.
TEST_F(CompareTest, AComparisonHasAPage) {
  std::filesystem::create_directory(folder_ / "out");
  std::ofstream(folder_ / "out" / "compare.csv")
      << "test_id,backend,base,verdict,ratio,ci95_lo,ci95_hi,base_ns,"
         "candidate_ns,n_blocks,noisy\n"
         "compare/Abs/test_abs,new,old,same,1.01,1,1.02,100,101,60,0\n";
  EXPECT_THAT(Assay("report out"), Ended(0, "report: out/report.html"));
  EXPECT_THAT(Text("out/report.html"), HasSubstr("new is slower in no case"));
}

TEST_F(CompareTest, WrongUseIsExitCodeTwo) {
  ExpectRefused(
      "compare ",
      {{"reference", "candidate"},
       {"", "base"},
       {"reference nobody", "no backend nobody"},
       {"nobody reference", "no backend nobody"},
       {"reference reference --threshold 0", "--threshold: found 0, wanted"},
       {"reference reference --threshold 11", "--threshold: found 11, wanted"},
       {"reference reference --budget 0", "--budget: found 0, wanted"},
       {"reference reference --filter op:NoSuch", "selection is empty"},
       {"reference reference --tier all", "--tier"}});
}

// Kills: a phase without a row; a line to run again that finds nothing.
TEST_F(CompareTest, TimesOfACaseAreATable) {
  const char* const one =
      "reference --time-budget 0.1 --filter id:time/Abs/test_abs";
  EXPECT_THAT(RunOf(one, " --suite time"), Ended(0, "1 = pass 1"));
  std::set<std::string> phases;
  for (const auto& row : Rows<times::TimeRow>("run/time.csv")) {
    EXPECT_EQ(row.test_id, "time/Abs/test_abs");
    EXPECT_GT(row.median_ns.value_or(0), 0);
    phases.insert(row.phase);
  }
  EXPECT_EQ(phases, (std::set<std::string>{"load", "create", "first", "destroy",
                                           "warm", "cold"}));
  const auto samples = record::ParseCsv<times::TimeSamplesRow>(
      Shell("gzip -dc run/time_samples.csv.gz").output);
  EXPECT_TRUE(samples.ok() && !samples->empty()) << samples.status().ToString();
  EXPECT_THAT(Assay("export --google-benchmark times.json --run run"),
              Ended(0, "written to times.json"));
  EXPECT_FALSE(JsonIn("times.json")["benchmarks"].empty());
  EXPECT_THAT(
      Assay("run --no-report --out again --backend reference --time-budget 0.1 "
            "--filter id:time/Abs/test_abs"),
      Ended(0, "1 = pass 1"));
}

// Kills: times of two runs that are said to be better or worse; folders that
// are none of a run, and tables that are not there.
TEST_F(CompareTest, RunsOfTheSameCasesAreComparedByTheirTables) {
  static_cast<void>(
      Assay("run --suite time --time-budget 0.1 --filter id:time/Abs/test_abs "
            "--no-report --backend reference --out one"));
  // A busy machine may make times suspect, which is not the matter here.
  const std::string results = std::regex_replace(
      Text("one/results.csv"), std::regex(",(suspect|flaky),"), ",pass,");
  std::ofstream(folder_ / "one/results.csv") << results;
  std::filesystem::copy(folder_ / "one", folder_ / "other",
                        std::filesystem::copy_options::recursive);
  EXPECT_THAT(Assay("compare one other --threshold 9 --out out"),
              Ended(0,
                    "other beside one, 1 case, timed one run after the "
                    "other",
                    "written to out: compare.csv\n"));
  EXPECT_THAT(Text("out/compare.csv"),
              testing::ContainsRegex(
                  "\ntime/Abs/test_abs,reference,reference,(same|unsure),"));
  EXPECT_THAT(Assay("run --out untimed --no-report --backend reference "
                    "--filter id:node/Abs/test_abs"),
              Ended(0));
  std::filesystem::create_directory(folder_ / "empty");
  ExpectRefused(
      "compare ",
      {{"one untimed", "found no case in untimed that passed and has warm"},
       {"empty one", "empty is no run: found no runs.csv there"},
       {"one reference", "found the folder one beside reference"},
       {"reference one", "found the folder one beside reference"}});
}

// Kills: a suite that a run has without being asked.
TEST_F(CompareTest, NoRunHasTimesThatNobodyAskedFor) {
  EXPECT_THAT(Assay("plan --filter op:Abs --tier nightly --out plan"),
              Ended(0));
  EXPECT_THAT(Text("plan/plan.csv"),
              AllOf(HasSubstr("redrawn/Abs/test_abs"),
                    Not(HasSubstr("time/Abs")), Not(HasSubstr("compare/"))));
}

}  // namespace
}  // namespace assay::compare
