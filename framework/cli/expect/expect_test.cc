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
    return Tree(StrCat("run --no-report --backend ", more, " --out ", out));
  }
};

// Kills: an update after which the same run is still red; reasons made up; a
// second update that changes something; a dry run that writes.
TEST_F(ExpectTest, AfterAnUpdateAndAReasonTheSameRunIsAsExpected) {
  Policy("faulty", "expectations.txt", "# ours\n");
  Policy("faulty", "passing.txt", "# accepted\n");
  EXPECT_EQ(RunFaulty("faulty+mutant=value", "first").exit_code, 1);
  const cli::Ran dry = Tree("expect update --run first --dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.output;
  EXPECT_THAT(dry.output, HasSubstr("expectations.txt: + expect fail where "));
  EXPECT_EQ(PolicyText("faulty", "expectations.txt"), "# ours\n");

  const cli::Ran update = Tree("expect update --run first");
  EXPECT_EQ(update.exit_code, 0) << update.output;
  std::string expectations = PolicyText("faulty", "expectations.txt");
  EXPECT_THAT(expectations, testing::StartsWith("# ours\n# "));
  EXPECT_THAT(PolicyText("faulty", "passing.txt"),
              testing::StartsWith("# accepted\n"));
  const cli::Ran again = Tree("expect update --run first");
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr(" 0 changes"));
  EXPECT_EQ(PolicyText("faulty", "expectations.txt"), expectations);

  const cli::Ran refused = RunFaulty("faulty+mutant=value", "second");
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("the reason is empty"));
  for (size_t at = 0; (at = expectations.find("\"\"")) != std::string::npos;) {
    expectations.replace(at, 2, "\"known\"");
  }
  Policy("faulty", "expectations.txt", expectations);
  const cli::Ran green = RunFaulty("faulty+mutant=value", "third");
  EXPECT_EQ(green.exit_code, 0) << green.output;

  // Mended: the lines go, the comments stay.
  EXPECT_EQ(RunFaulty("faulty", "mended").exit_code, 1);
  const cli::Ran mended = Tree("expect update --run mended");
  EXPECT_EQ(mended.exit_code, 0) << mended.output;
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
  const cli::Ran whole = RunFaulty("reference", "run");
  EXPECT_EQ(whole.exit_code, 1) << whole.output;
  EXPECT_THAT(whole.output,
              HasSubstr(" cases pass that passing.txt does not list"));
  EXPECT_EQ(
      RunFaulty("reference --suite node --filter op:Sqrt", "part").exit_code,
      0);
  const cli::Ran refused = Tree("expect update --run part --drop");
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("is partial"));
  const cli::Ran kept = Tree("expect update --run part");
  EXPECT_THAT(kept.output, HasSubstr("a partial run: nothing is removed"));
  EXPECT_EQ(PolicyText("reference", "passing.txt"),
            floor + "node/Sqrt/test_sqrt_example\n");
  Policy("reference", "passing.txt", floor);
  const cli::Ran dropped = Tree("expect update --run run --drop");
  EXPECT_EQ(dropped.exit_code, 0) << dropped.output;
  EXPECT_THAT(PolicyText("reference", "passing.txt"),
              testing::Not(HasSubstr("gone")));
  EXPECT_EQ(RunFaulty("reference", "again").exit_code, 0);
}

TEST_F(ExpectTest, RunsOfAnotherPolicyOrBuildAreRefused) {
  EXPECT_EQ(RunFaulty("reference", "run").exit_code, 0);
  Policy("reference", "claims.txt", "claim forward where op:Abs\n");
  const cli::Ran policy = Tree("expect update --run run");
  EXPECT_EQ(policy.exit_code, 2) << policy.output;
  EXPECT_THAT(policy.output, HasSubstr("was changed since the run"));
  EXPECT_EQ(RunFaulty("reference", "new").exit_code, 0);
  ReplaceReference(built_ / "lib/assay/faulty.so");
  const cli::Ran build = Tree("expect update --run new");
  EXPECT_EQ(build.exit_code, 2) << build.output;
  EXPECT_THAT(build.output, HasSubstr("is of another build"));
  EXPECT_EQ(PolicyText("reference", "passing.txt"), "");
}

TEST_F(ExpectTest, WrongUseSaysWhy) {
  EXPECT_EQ(RunFaulty("reference --filter op:Abs", "run").exit_code, 0);
  const struct {
    const char* arguments;
    const char* says;
  } rows[] = {
      {"expect", "subcommand is required"},
      {"expect update", "--run is required"},
      {"expect update --run nowhere", "found no finished run in nowhere"},
      {"expect update --run run --backend acme", "has no backend acme"},
  };
  for (const auto& row : rows) {
    const cli::Ran ran = Tree(row.arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace assay::expect
