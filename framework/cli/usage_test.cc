// SPDX-License-Identifier: Apache-2.0
//
// The words that a person types: wrong ones, and those that a shell completes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/cli/program_fixture.h"
#include "framework/file/file.h"

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
      {"run --seed drwan", "Could not convert: --seed = drwan"},
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
      {"list cases --run runs/latest", "list cases is about no run"},
      {"run --filter id:node/Abs/test_abz", "nearest are node/Abs/test_abs"},
      {"run --filter 'op:MatMul and rank:x'", "wanted a number of axes"},
      {"list results --filter rank:2", "asks for ranks, which a run does not"},
      {"report x --alpha 1e-6", "--alpha requires --beta"},
      {"report x --beta 1e-9", "--beta requires --alpha"},
      {"report x --alpha -1 --beta 1e-9",
       "--alpha: found -1, wanted seconds above 0 and below 1e6"},
      {"report x --alpha 0 --beta 1e-9", "--alpha: found 0, wanted seconds"},
      {"report x --alpha 1e-6 --beta fast", "--beta: found fast, wanted"},
      {"report x --training --alpha 1e-6 --beta 1e-9", " excludes --"},
  };
  for (const auto& row : rows) {
    const Ran ran = Assay(row.arguments);
    EXPECT_EQ(ran.exit_code, 2) << row.arguments << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.arguments;
  }
}

// Kills: a seed that somebody can know before.
TEST_F(UsageTest, ADrawnSeedIsAnother) {
  std::set<int64_t> seeds;
  for (const char* folder : {"one", "two"}) {
    const Ran ran =
        Assay(StrCat("plan --filter op:Abs --seed drawn --out ", folder));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto plan = file::ReadFile(folder_ / folder / "plan.json");
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    seeds.insert(
        nlohmann::json::parse(*plan).at("selection").at("seed").get<int64_t>());
  }
  EXPECT_EQ(seeds.size(), 2U);
}

// Kills: a command without an example; a default that only the code knows; a
// value in braces that nobody types.
TEST_F(UsageTest, HelpHasDefaultsAndExamples) {
  for (const char* command :
       {"run", "plan", "merge", "list", "inspect", "explain", "expect",
        "capsule", "shrink", "report", "assess", "schema", "completion"}) {
    const Ran ran = Assay(StrCat(command, " --help"));
    EXPECT_EQ(ran.exit_code, 0) << command;
    EXPECT_THAT(ran.output, HasSubstr("Examples:\n  ")) << command;
    EXPECT_THAT(ran.output, testing::Not(HasSubstr("{false}"))) << command;
  }
  const std::string run = Assay("run --help").output;
  for (const char* part :
       {"--tier TEXT:{smoke,ci,nightly,scale}=ci", "--seed INT|drawn=0",
        "--out DIR", "--timeout FLOAT", "=120", "name+ranks=LIBRARY"}) {
    EXPECT_THAT(run, HasSubstr(part));
  }
}

// Kills: a line for a person among what a program reads; a run whose files a
// program has to guess; colours in a pipe.
TEST_F(UsageTest, AProgramReadsARunOnStandardOutput) {
  const std::string run =
      StrCat(Program(),
             " run --backend faulty+mutant=value --filter id:node/Abs/test_abs "
             "--no-report --repeats 0 --out ");
  const Ran ran = Shell(run + "run --json 2>said");
  EXPECT_EQ(ran.exit_code, 1);
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("unexpected").at(0).at("test_id"), "node/Abs/test_abs");
  EXPECT_EQ(json.at("backends").at(0).at("verdict"), "partial");
  EXPECT_EQ(json.at("exit_code"), 1);
  EXPECT_EQ(json.at("folder"), (folder_ / "run").string());
  for (const char* name : {"results.csv", "summary.json", "summary.md"}) {
    EXPECT_TRUE(
        std::filesystem::exists(json.at("paths").at(name).get<std::string>()))
        << name;
  }
  EXPECT_FALSE(json.at("paths").contains("report.html"));
  const std::string said = *file::ReadFile(folder_ / "said");
  EXPECT_THAT(said, HasSubstr("1 = pass 0 (vacuous 0) + fail 1\n"));
  EXPECT_THAT(said, HasSubstr("unexpected: 1, 1 of them not run again alone"));
  EXPECT_THAT(said, HasSubstr("  why: assay explain 'node/Abs/test_abs' "));
  EXPECT_THAT(Shell("CLICOLOR_FORCE=1 " + run + "red").output,
              HasSubstr(" + \x1B[31mfail 1\x1B[0m\n"));
}

// Kills: a query that a model's inner tensors do not count for; a rank that is
// not the model's.
TEST_F(UsageTest, CasesAreListedByTheRanksOfTheirTensors) {
  const auto listed = [&](const char* rank) {
    return Assay(StrCat("list cases --corpus onnx --filter 'suite:node and "
                        "kind:node and op:MatMul and ",
                        rank, "'"))
        .output;
  };
  EXPECT_EQ(listed("rank:2"), "node/MatMul/test_matmul_2d\n");
  EXPECT_EQ(listed("rank:3"), "node/MatMul/test_matmul_3d\n");
  EXPECT_THAT(listed("rank<=2"), HasSubstr("node/MatMul/test_matmul_2d\n"));
  EXPECT_THAT(listed("not rank<=3"), HasSubstr("test_matmul_4d\n"));
  EXPECT_EQ(Assay("list cases --corpus onnx --filter 'rank:4 and "
                  "id:model/light/test_squeezenet'")
                .exit_code,
            2);
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
  EXPECT_EQ(completed("ex", 1), "explain expect export\n");
  EXPECT_EQ(completed("run --fil", 2), "--filter\n");
  EXPECT_EQ(completed("run --tier n", 3), "nightly\n");
  EXPECT_EQ(completed("run --isolation x", 3), "\n");
  EXPECT_EQ(completed("run --isolation ba", 3), "batch\n");
  EXPECT_EQ(completed("schema m", 2), "markdown\n");
  EXPECT_EQ(completed("expect update --dr", 3), "--drop --dry-run\n");
  EXPECT_THAT(Assay("completion zsh").output,
              HasSubstr("bashcompinit && bashcompinit\n_assay() {"));
  EXPECT_EQ(Assay("completion fish").exit_code, 2);
}

}  // namespace
}  // namespace assay::cli
