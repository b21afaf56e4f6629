// SPDX-License-Identifier: Apache-2.0
//
// The tool on toy/, whose test does not look at one of three functions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>

#include "ctest/trial/mutants/build_tree.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"

namespace assay::random_mutants {
namespace {

using testing::HasSubstr;

constexpr char kToy[] = "ctest/trial/mutants/random/toy";

class RandomMutantsTest : public testing::Test {
 protected:
  /// Runs the tool with the list of equivalent ones.
  harness_mutants::Output Run(const std::string& list,
                              const std::string& options) {
    folder_.Write("equivalent.txt", list);
    return harness_mutants::Shell(
        StrCat(ASSAY_RANDOM_MUTANTS, " ", kToy, "/toy.cc --equivalent ",
               (folder_.path() / "equivalent.txt").string(), " --out ",
               folder_.path().string(), " --seconds 1 ", options));
  }
  std::string Equivalent() const {
    return *file::ReadFile(StrCat(ASSAY_ROOT, "/", kToy, "/equivalent.txt"));
  }

  file::ScratchFolder folder_;
};

// Kills: a survivor reported as killed, a mutant that does not end as one that
// nobody kills, a run that is green with survivors.
TEST_F(RandomMutantsTest, ReportsTheSurvivorsOfATestThatDoesNotLook) {
  const harness_mutants::Output output =
      Run(Equivalent(), "--count 99 --least 100");
  EXPECT_EQ(WEXITSTATUS(output.wait_status), 1) << output.text;
  const std::string table =
      *file::ReadFile(folder_.path() / "random_mutants.csv");
  const std::string file = StrCat(kToy, "/toy.cc,");
  for (const char* line : {
           "8,condition,a < b,!(a < b),killed,",
           "8,operator,<,<=,equivalent,",
           "8,value,a,{},killed,",
           "12,operator,>,>=,same code,",
           "12,value,a > b ? a : b,{},survived,",
           "15,constant,0,1,killed,",
           "17,operator,--,++,killed,ctest/trial/mutants/random/toy_test "
           "ToyTest.StepsAreCounted",
           "17,statement,--n,,killed,",
           "20,value,steps,{},killed,",
       }) {
    EXPECT_THAT(table, HasSubstr(file + line));
  }
  EXPECT_THAT(output.text, HasSubstr("\nSurvivors:\n"));
}

TEST_F(RandomMutantsTest, TheSameSeedDrawsTheSame) {
  const std::string seven = Run(Equivalent(), "--list --seed 7").text;
  EXPECT_EQ(Run(Equivalent(), "--list --seed 7").text, seven);
  EXPECT_NE(Run(Equivalent(), "--list --seed 8").text, seven);
}

// Kills: a list of equivalent ones that excuses what is no longer there.
TEST_F(RandomMutantsTest, AStaleEquivalentOneIsAnError) {
  const std::string head = StrCat("mutant m of operator in ", kToy,
                                  "/toy.cc killed by nobody because \"x\"\n");
  const struct {
    const char* texts;
    const char* message;
  } rows[] = {
      {"- if (a < c) return a;\n+ if (a <= c) return a;", "0 times"},
      {"- if (a < b) return a;\n+ if (a > b) return a;", "no change that is"},
  };
  for (const auto& row : rows) {
    const harness_mutants::Output output = Run(head + row.texts, "--list");
    EXPECT_EQ(WEXITSTATUS(output.wait_status), 99);
    EXPECT_THAT(output.text, HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace assay::random_mutants
