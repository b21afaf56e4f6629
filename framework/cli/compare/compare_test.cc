// SPDX-License-Identifier: Apache-2.0
//
// assay compare, and the suite of times, from outside. No test asks how long
// something takes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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
    return Assay("compare --budget 0.1 --threshold 9 ", words...);
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
  EXPECT_THAT(base, Ended(0, "0 cases", "Declined by one of the two: 1."));
  std::filesystem::create_symlink(ASSAY_FEW_OPERATORS,
                                  folder_ / "reference.so");
  EXPECT_THAT(Compare("reference ./reference.so --filter "
                      "'id:compare/Abs/test_abs or id:compare/Add/test_add "
                      "or id:compare/Sub/test_sub' --tier nightly"),
              Ended(0, ", 1 case;", "Declined by one of the two: 2."));
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
  EXPECT_FALSE(Rows<times::TimeSamplesRow>("run/time_samples.csv").empty());
  EXPECT_THAT(
      Assay("run --no-report --out again --backend reference --time-budget 0.1 "
            "--filter id:time/Abs/test_abs"),
      Ended(0, "1 = pass 1"));
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
