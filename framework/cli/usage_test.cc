// SPDX-License-Identifier: Apache-2.0
//
// The words that a person types: wrong ones, and those that a shell completes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/program_fixture.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

using UsageTest = ProgramTest;

TEST_F(UsageTest, WrongUseIsExitCodeTwoAndSaysWhy) {
  const struct {
    const char* arguments;
    const char* says;
  } rows[] = {
      {"", "subcommand is required"},
      {"run --nonsense", "--nonsense"},
      {"run --backend nobody", "no backend nobody"},
      {"run --filter 'op:'", "op:"},
      {"run --filter 'op:NoSuchOperator'", "selection is empty"},
      {"run --filter 'outcome:pass'", "asks for an outcome"},
      {"run --backend reference --backend reference", "named twice"},
      {"list", "list: found no word, wanted one of\n  cases "},
      {"list nothing", "found 'nothing', wanted one of\n  cases "},
      {"rnu", "did you mean run?"},
      {"run --fliter=op:Abs", "did you mean --filter?"},
      {"run --backend referense", "did you mean reference?"},
      {"run --filter op:Sigmod", "did you mean Sigmoid?"},
      {"list case", "did you mean cases?"},
      {"list differentiability --filter op:Abs", "no option but --json"},
  };
  for (const auto& row : rows) {
    const Ran ran = Assay(row.arguments);
    EXPECT_EQ(ran.exit_code, 2) << row.arguments << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.arguments;
  }
}

// Kills: a command or an option that the scripts forget.
TEST_F(UsageTest, ShellsCompleteWhatTheProgramTakes) {
  const auto completed = [&](const std::string& words, int at) {
    return Shell(StrCat("bash -c '", Program(),
                        " completion bash >script; source ./script; "
                        "COMP_WORDS=(assay ",
                        words, "); COMP_CWORD=", at,
                        "; _assay; echo \"${COMPREPLY[*]}\"'"))
        .output;
  };
  EXPECT_EQ(completed("ex", 1), "explain expect\n");
  EXPECT_EQ(completed("run --fil", 2), "--filter\n");
  EXPECT_EQ(completed("run --tier n", 3), "nightly\n");
  EXPECT_EQ(completed("expect update --dr", 3), "--drop --dry-run\n");
  EXPECT_THAT(Assay("completion zsh").output,
              HasSubstr("bashcompinit && bashcompinit\n_assay() {"));
  EXPECT_EQ(Assay("completion fish").exit_code, 2);
}

}  // namespace
}  // namespace assay::cli
