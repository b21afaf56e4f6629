// SPDX-License-Identifier: Apache-2.0
//
// assay expect update, from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/cli/tree_fixture.h"

namespace assay::expect {
namespace {

using testing::HasSubstr;

class ExpectTest : public cli::TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    ReplaceReference(ASSAY_FEW_OPERATORS);
  }

  /// Runs faulty with a mutant that gets every value wrong, or rightly.
  cli::Ran RunFaulty(const std::string& more, const std::string& out) const {
    return Tree("run --no-report --repeats 0 --backend ", more, " --out ", out);
  }
};

// Kills: an update after which the same run is still red; reasons made up; a
// second update that changes something; a dry run that writes.
TEST_F(ExpectTest, AfterAnUpdateAndAReasonTheSameRunIsAsExpected) {
  Policy("faulty", "expectations.txt", "# ours\n");
  Policy("faulty", "passing.txt", "# accepted\n");
  EXPECT_EQ(RunFaulty("faulty+mutant=value", "first").exit_code, 1);
  EXPECT_THAT(Tree("expect update --run first --dry-run"),
              cli::Ended(0, "expectations.txt: + expect fail where "));
  EXPECT_EQ(PolicyText("faulty", "expectations.txt"), "# ours\n");

  const cli::Ran update = Tree("expect update --run first");
  EXPECT_EQ(update.exit_code, 0) << update.output;
  std::string expectations = PolicyText("faulty", "expectations.txt");
  EXPECT_THAT(expectations, testing::StartsWith("# ours\n# "));
  EXPECT_THAT(PolicyText("faulty", "passing.txt"),
              testing::StartsWith("# accepted\n"));
  EXPECT_THAT(Tree("expect update --run first"), cli::Ended(0, " 0 changes"));
  EXPECT_EQ(PolicyText("faulty", "expectations.txt"), expectations);

  EXPECT_THAT(RunFaulty("faulty+mutant=value", "second"),
              cli::Ended(2, "the reason is empty"));
  for (size_t at = 0; (at = expectations.find("\"\"")) != std::string::npos;) {
    expectations.replace(at, 2, "\"known\"");
  }
  Policy("faulty", "expectations.txt", expectations);
  EXPECT_THAT(RunFaulty("faulty+mutant=value", "third"), cli::Ended(0));

  // Mended: the lines go, the comments stay.
  EXPECT_EQ(RunFaulty("faulty", "mended").exit_code, 1);
  EXPECT_THAT(Tree("expect update --run mended"), cli::Ended(0));
  EXPECT_THAT(PolicyText("faulty", "expectations.txt"),
              testing::Not(HasSubstr("\nexpect ")));
  EXPECT_THAT(PolicyText("faulty", "expectations.txt"),
              testing::StartsWith("# ours\n"));
  EXPECT_THAT(PolicyText("faulty", "passing.txt"), HasSubstr("\nmakes "));
  EXPECT_EQ(RunFaulty("faulty", "clean").exit_code, 0);
}

TEST_F(ExpectTest, LostCasesLeaveTheFloorOnlyOnWish) {
  const std::string floor =
      "# ours\nnode/DeformConv/gone\nnode/Sqrt/test_sqrt\n";
  Policy("reference", "passing.txt", floor);
  EXPECT_THAT(RunFaulty("reference", "run"),
              cli::Ended(1, " cases pass that passing.txt does not list"));
  EXPECT_EQ(
      RunFaulty("reference --suite node --filter op:Sqrt", "part").exit_code,
      0);
  EXPECT_THAT(Tree("expect update --run part --drop"),
              cli::Ended(2, "is partial"));
  const cli::Ran kept = Tree("expect update --run part");
  EXPECT_THAT(kept.output, HasSubstr("a partial run: nothing is removed"));
  EXPECT_EQ(PolicyText("reference", "passing.txt"),
            floor + "node/Sqrt/test_sqrt_example\n");
  Policy("reference", "passing.txt", floor);
  EXPECT_THAT(Tree("expect update --run run --drop"), cli::Ended(0));
  EXPECT_THAT(PolicyText("reference", "passing.txt"),
              testing::Not(HasSubstr("gone")));
  EXPECT_EQ(RunFaulty("reference", "again").exit_code, 0);
}

TEST_F(ExpectTest, RunsOfAnotherPolicyOrBuildAreRefused) {
  EXPECT_EQ(RunFaulty("reference", "run").exit_code, 0);
  Policy("reference", "claims.txt", "claim forward where op:Abs\n");
  EXPECT_THAT(Tree("expect update --run run"),
              cli::Ended(2, "was changed since the run"));
  EXPECT_EQ(RunFaulty("reference", "new").exit_code, 0);
  ReplaceReference(built_ / "lib/assay/faulty.so");
  EXPECT_THAT(Tree("expect update --run new"),
              cli::Ended(2, "is of another build"));
  EXPECT_EQ(PolicyText("reference", "passing.txt"), "");
}

TEST_F(ExpectTest, WrongUseSaysWhy) {
  EXPECT_EQ(RunFaulty("reference --filter op:Abs", "run").exit_code, 0);
  ExpectTreeRefuses(
      "expect", {{"", "subcommand is required"},
                 {" update", "--run is required"},
                 {" update --run nowhere", "found no finished run in nowhere"},
                 {" update --run run --backend acme", "has no backend acme"}});
}

}  // namespace
}  // namespace assay::expect
