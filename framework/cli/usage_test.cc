// SPDX-License-Identifier: Apache-2.0
//
// The words that a person types: wrong ones, those that a shell completes, and
// names of modules by version, by file, of other builds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
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
      {"run --backend nobody", "no backend nobody"},
      {"run --filter 'op:'", "op:"},
      {"run --filter 'op:NoSuchOperator'", "selection is empty"},
      {"run --filter 'outcome:pass'", "asks for an outcome"},
      {"list", "list: found no word, wanted one of\n  cases "},
      {"list nothing", "found 'nothing', wanted one of\n  cases "},
      {"rnu", "did you mean run?"},
      {"hlep", "found 'hlep', wanted one of run, plan, "},
      {"", "found no word, wanted one of run, plan, "},
      {"expect", "found no word, wanted one of update\n"},
      {"expect updat --run x", "found 'updat', wanted one of update\n"},
      {"trace x --data-set -1",
       "--data-set: found -1, wanted a whole number from 0 to 1000000000\n"},
      {"hlep", "did you mean help?"},
      {"diff", "found 'diff', wanted one of "},
      {"train mlp --epochs 0",
       "--epochs: found 0, wanted a whole number from 1 to 1000000000\n"},
      {"train mlp --epochs 1 --stop-at 2",
       "--stop-at: found 2, wanted a number from 0"},
      {"converge reference --model mlp --epochs 1 --seeds 3",
       "--seeds: found 3, wanted a whole number from 4 to 12\n"},
      {"train mlp --epochs 1 --optimizer 'adam/pytorch:rate=0.1 rate=0.2'",
       "found the setting 'rate' twice, wanted it once"},
      {"train mlp --epochs 1 --optimizer nesterov/pytorch:dampening=0.5",
       "wanted a momentum above 0 and dampening of 0"},
      {"run --suite nodes",
       "found the suite 'nodes'; did you mean node?, wanted one of "},
      {"run --suite node --suite modle", "found the suite 'modle'; did you"},
      {"run --suite node --suite modle --filter id:node/Abs/test_abs",
       "found the suite 'modle'; did you mean model?, wanted one of "},
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
  // One that is not refused is done with one case.
  ExpectRefused(
      "run --backend reference --filter id:node/Abs/test_abs --no-report ",
      {
          {"--seed drwan", "Could not convert: --seed = drwan"},
          {"--nonsense", "--nonsense"},
          {"--jobs -1",
           "--jobs: found -1, wanted a whole number from 0 to 4096\n"},
          {"--jobs 1.5", "--jobs: found 1.5, wanted a whole number from 0 to"},
          {"--timeout 0",
           "--timeout: found 0, wanted a number from 0.001 to 1e+06\n"},
          {"--timeout nan", "--timeout: found nan, wanted a number from"},
          {"--memory -1", "--memory: found -1, wanted a number from 0 to"},
          {"--ranks -1", "--ranks: found -1, wanted a whole number from 0"},
          {"--repeats many", "--repeats: found many, wanted a whole number"},
          {"--attempts 0", "--attempts: found 0, wanted a whole number from 1"},
          {"--fliter=op:Abs", "did you mean --filter?"},
          {"--backend reference", "named twice"},
          {"--backend reference+a=1+a=2", "the setting a is given twice"},
      });
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

// Kills: half a table, or none, and a step of CI that is green.
TEST_F(UsageTest, AnOutputThatIsCutOffIsNoticedByEachVerb) {
  RunOf("reference --filter id:node/Abs/test_abs");
  Assay("plan --filter id:node/Abs/test_abs --out plan");
  Assay("run --plan plan --parts plan/parts");
  for (const char* command :
       {"list results --run run --csv", "list cases", "list backends --json",
        "explain node/Abs/test_abs --run run --json", "schema json",
        "completion bash", "inspect reference", "--help", "run --help",
        "--version", "expect update --run run --dry-run",
        "capsule node/Abs/test_abs --backend reference --out full",
        "export --deep500 full --run run", "merge plan --no-report --out full",
        "plan --filter id:node/Abs/test_abs --out full",
        "optdiff reference reference --model mlp --steps 1",
        "run --backend reference --filter id:node/Abs/test_abs --no-report "
        "--json --out full"}) {
    std::filesystem::remove_all(folder_ / "full");
    EXPECT_THAT(Assay(command, " >/dev/full"),
                Ended(99, "assay: cannot write all of standard output: No "))
        << command;
    std::filesystem::remove_all(folder_ / "full");
    EXPECT_THAT(Assay(command, " >&-"),
                Ended(99, "assay: standard output is closed"))
        << command;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "full")) << command;
  }
  // Who reads the head alone wants no more, be SIGPIPE ignored or not.
  for (const char* ignore : {"", "trap '' PIPE; "}) {
    EXPECT_EQ(Shell(ignore, Program(), " list cases | head -1").output,
              Shell(Program(), " list cases 2>/dev/null | head -1").output);
  }
}

// Kills: a line that a terminal breaks; a word about others in its midst.
TEST_F(UsageTest, HelpFitsATerminal) {
  const std::string script = Assay("completion bash").output;
  const std::regex name("\n    ([a-z]+)\\) words=");
  std::set<std::string> commands = {"", "expect update"};
  for (std::sregex_iterator at(script.begin(), script.end(), name), end;
       at != end; ++at) {
    commands.insert((*at)[1]);
  }
  EXPECT_GE(commands.size(), 19U);
  for (const std::string& command : commands) {
    const Ran ran = Assay(command, " --help");
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_LE(Widest(ran.output), 80U) << ran.output;
    EXPECT_THAT(ran.output, Not(HasSubstr("Excludes"))) << command;
  }
  EXPECT_EQ(Assay("help").output, Assay("--help").output);
}

// Kills: a command without an example; a default that only the code knows; a
// value in braces that nobody types.
TEST_F(UsageTest, HelpHasDefaultsAndExamples) {
  for (const char* command :
       {"run", "plan", "merge", "list", "inspect", "explain", "expect",
        "capsule", "shrink", "report", "assess", "compare", "schema",
        "completion"}) {
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
  EXPECT_THAT(said, testing::ContainsRegex("\ntook [0-9.]+ s\n"));
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
  EXPECT_EQ(completed("compa", 1), "compare\n");
  EXPECT_EQ(completed("compare --th", 2), "--threshold\n");
  EXPECT_EQ(completed("compare --tier n", 3), "nightly\n");
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
