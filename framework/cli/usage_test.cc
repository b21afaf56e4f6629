// SPDX-License-Identifier: Apache-2.0
//
// The words that a person types: wrong ones, those that a shell completes, and
// names of modules by version, by file, of other builds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/cli/tree_fixture.h"
#include "framework/file/file.h"
#include "framework/testing/record/rows.h"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

using UsageTest = ProgramTest;

TEST_F(UsageTest, WrongUseIsExitCodeTwoAndSaysWhy) {
  const std::vector<Refusal> rows = {
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
  ExpectRefused("", rows);
}

// Kills: a seed that somebody can know before.
TEST_F(UsageTest, ADrawnSeedIsAnother) {
  std::set<int64_t> seeds;
  for (const char* folder : {"one", "two"}) {
    ASSERT_THAT(Assay("plan --filter op:Abs --seed drawn --out ", folder),
                Ended(0));
    const std::string plan = Text(StrCat(folder, "/plan.json"));
    seeds.insert(
        nlohmann::json::parse(plan).at("selection").at("seed").get<int64_t>());
  }
  EXPECT_EQ(seeds.size(), 2U);
}

// Kills: a command without an example; a default that only the code knows; a
// value in braces that nobody types.
TEST_F(UsageTest, HelpHasDefaultsAndExamples) {
  for (const char* command :
       {"run", "plan", "merge", "list", "inspect", "explain", "expect",
        "capsule", "shrink", "report", "assess", "schema", "completion"}) {
    const Ran ran = Assay(command, " --help");
    EXPECT_EQ(ran.exit_code, 0) << command;
    EXPECT_THAT(ran.output, HasSubstr("Examples:\n  ")) << command;
    EXPECT_THAT(ran.output, Not(HasSubstr("{false}"))) << command;
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
  const std::string said = Text("said");
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
    return Assay(
               "list cases --corpus onnx --filter 'suite:node and "
               "kind:node and op:MatMul and ",
               rank, "'")
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
    return Shell("bash -c 'assay() { ", Program(),
                 " \"$@\"; }; assay completion bash >script; source ./script; "
                 "COMP_WORDS=(assay ",
                 words, "); COMP_CWORD=", at,
                 "; _assay; echo \"${COMPREPLY[*]}\"'")
        .output;
  };
  EXPECT_EQ(completed("ex", 1), "explain expect export\n");
  EXPECT_EQ(completed("run --fil", 2), "--filter\n");
  EXPECT_EQ(completed("run --tier n", 3), "nightly\n");
  EXPECT_EQ(completed("run --isolation x", 3), "\n");
  EXPECT_EQ(completed("run --isolation ba", 3), "batch\n");
  EXPECT_EQ(completed("run --suite op", 3), "optimizer\n");
  EXPECT_EQ(completed("run --suite 1", 3), "\n");
  EXPECT_EQ(completed("schema m", 2), "markdown\n");
  EXPECT_EQ(completed("expect update --dr", 3), "--drop --dry-run\n");
  EXPECT_THAT(Assay("completion zsh").output,
              HasSubstr("bashcompinit && bashcompinit\n_assay() {"));
  EXPECT_EQ(Assay("completion fish").exit_code, 2);
}

class ModuleTest : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    for (const char* name :
         {"misbehaving@1.so", "misbehaving@2.so", "other.so"}) {
      std::filesystem::copy_file(ASSAY_MISBEHAVING, tree_ / "lib/assay" / name);
    }
  }

  Ran RunOn(const std::string& backend) const {
    return Tree("run --filter 'op:Neg suite:node' --no-report --out run-",
                backend, " --backend ", backend);
  }
};

// Kills: a version that is parsed and dropped.
TEST_F(ModuleTest, AVersionIsOfTheFileAndOfWhatTheBackendSays) {
  EXPECT_THAT(RunOn("misbehaving@3").output,
              AllOf(HasSubstr("found no "), HasSubstr("misbehaving@3.so"),
                    HasSubstr("misbehaving@1, misbehaving@2")));
  RunOn("misbehaving@1");
  for (const auto& row : Rows("run-misbehaving@1/results.csv")) {
    EXPECT_NE(row.outcome, record::Outcome::kError) << row.message;
  }
  RunOn("misbehaving@2");
  const auto rows = Rows("run-misbehaving@2/results.csv");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    EXPECT_EQ(row.outcome, record::Outcome::kError);
    EXPECT_THAT(row.message, HasSubstr("is of version 1, wanted 2"));
  }
}

TEST_F(ModuleTest, ANameIsThatOfTheFile) {
  RunOn("other");
  EXPECT_THAT(
      Rows("run-other/results.csv"),
      Contains(Field(&record::ResultRow::message,
                     HasSubstr("registers misbehaving, wanted other"))));
}

// Kills: a module of another build that is planned with, and fails case by
// case.
TEST_F(ModuleTest, AForeignModuleIsRefusedOnce) {
  EXPECT_THAT(Tree("run --out refused --backend ", ASSAY_LOADER_TEST_MODULES,
                   "/foreign_headers.so"),
              Ended(99, "other headers: found 0123456789abcdef"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
}

TEST_F(ModuleTest, InspectSaysWhatAModuleIs) {
  Policy("reference", "claims.txt",
         "# A comment.\nclaim forward where op:Abs\n");
  EXPECT_THAT(Tree("inspect reference"),
              Ended(0, "lib/assay/reference.so", "Assay 0.1.0, headers ",
                    "libstdc++", "isa          sse2",
                    "offers       differentiable, placement, exact; by Relu",
                    "library      /", "claims       claim forward where op:Abs",
                    "claims.txt: 1 line\n"));
  const Json json = Json::parse(Tree("inspect reference --json").output);
  EXPECT_EQ(json.at("name"), "reference");
  EXPECT_EQ(json.at("policy").at("claims.txt"), 1);
  EXPECT_EQ(json.at("cannot_run"), "");

  const Ran other = Tree("inspect tree/lib/assay/other.so");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.output,
              AllOf(HasSubstr("cannot run"), Not(HasSubstr("offers"))));
  const Ran foreign = Tree("inspect ", ASSAY_LOADER_TEST_MODULES, "/empty.so");
  EXPECT_THAT(foreign.output, HasSubstr("registers no backend"));
  EXPECT_THAT(Tree("inspect nowhere").output, HasSubstr("no backend nowhere"));
}

}  // namespace
}  // namespace assay::cli
