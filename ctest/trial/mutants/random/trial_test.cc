// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::random_mutants {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Trial> SomeTrials() {
  return {{"a.cc", 3, "operator", "<", "<=", TrialEnd::kKilled, "t A.B", 0.5},
          {"a.cc", 4, "statement", "f(a,\n  b)", "", TrialEnd::kSurvived},
          {"a.cc", 5, "operator", "+", "-", TrialEnd::kKilled, "t A.C", 1},
          {"b.cc", 6, "constant", "0", "1", TrialEnd::kSameCode},
          {"b.cc", 7, "constant", "1", "0", TrialEnd::kEquivalent},
          {"c.cc", 8, "constant", "1", "0", TrialEnd::kNotCompiled}};
}

// Kills: a survivor that is left out, or counted as killed; one that no test
// can see counted for or against them.
TEST(TrialTest, KillsAreCountedByKindAndFile) {
  const std::string text = TrialsMarkdown(SomeTrials());
  for (const char* line :
       {"2 of 3 killed, 66.7 %; 2 more are equivalent.",
        "| operator | 2 | 0 | 0 | 100.0 % |",
        "| statement | 0 | 1 | 0 | 0.0 % |", "| constant | 0 | 0 | 2 | - |",
        "| a.cc | 2 | 1 | 0 | 66.7 % |",
        "- a.cc:4 statement: f(a, b) becomes "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("c.cc")));
  EXPECT_EQ(CountKills({}).Percent(), 0);
}

TEST(TrialTest, EveryTrialIsALineOfTheTable) {
  EXPECT_EQ(TrialsCsv({SomeTrials()[0], SomeTrials()[3]}),
            "file,line,kind,before,after,end,killed_by,seconds\n"
            "a.cc,3,operator,<,<=,killed,t A.B,0.5\n"
            "b.cc,6,constant,0,1,same code,,0\n");
}

}  // namespace
}  // namespace assay::random_mutants
