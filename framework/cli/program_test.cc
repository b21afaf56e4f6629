// SPDX-License-Identifier: Apache-2.0
//
// The assay program from outside: exit codes, messages and files, on the ONNX
// corpus. Each test works in a folder of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "framework/cli/program_fixture.h"
#include "framework/testing/record/tables.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using testing::_;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kThree =
    " --filter 'id:node/Abs/test_abs or id:node/Neg/test_neg or "
    "id:node/Relu/test_relu' ";

TEST_F(ProgramTest, AFolderThatIsNotThereIsWrongUsage) {
  ExpectRefused(
      "", {{"run --corpus /nowhere/at/all", "no corpus at /nowhere/at/all"},
           {"run --resume nowhere", "nowhere is no plan or run"},
           {"merge nowhere", "nowhere is no plan or run"},
           {"report nowhere", "nowhere is no run: found no runs.csv"},
           {"export --deep500 out --training nowhere",
            "nowhere is no run: found no train.txt"}});
}

TEST_F(ProgramTest, ListCountsTheWholeCorpus) {
  EXPECT_EQ(Shell(Program(), " list cases --corpus onnx | wc -l").output,
            "2036\n");
  EXPECT_EQ(Assay("list suites --corpus onnx").output,
            "model 152\nnode 1884\n");
}

// Kills: a list of a suite that nobody can ask for; lines that a terminal
// breaks.
TEST_F(ProgramTest, ASuiteHasListsOfItsOwn) {
  const std::string list = StrCat(Program(), " list differentiability");
  EXPECT_THAT(Shell(list + " | head -n 1").output, HasSubstr("ONNX 1."));
  EXPECT_EQ(Shell("{ ", list, "; ", Program(),
                  " list; } 2>&1 | grep -E '.{81}' | wc -l")
                .output,
            "0\n");
  const Ran json = Shell(list + " --json");
  EXPECT_THAT(json.output, HasSubstr("\"operator\": \"ai.onnx::Clip\""));
}

TEST_F(ProgramTest, OneCaseByNameGivesAWholeRunFolder) {
  EXPECT_THAT(RunOf("reference --filter id:node/Abs/test_abs"),
              Ended(0, "1 = pass 1 (vacuous 0)", "partial"));
  for (const char* file :
       {"runs.csv", "plan.csv", "env.csv", "backends.csv", "results.csv",
        "attempts.csv", "accuracy.csv", "summary.json", "summary.md",
        "junit/node.reference.xml"}) {
    EXPECT_TRUE(fs::exists(folder_ / "run" / file)) << file;
  }
  const auto runs = Rows<record::RunRow>("run/runs.csv");
  EXPECT_FALSE(runs.front().complete);
}

TEST_F(ProgramTest, ReproGivesTheSameOutcome) {
  EXPECT_THAT(RunOf("faulty+mutant=zeros", kThree), Ended(1));
  const auto rows = Rows("run/results.csv");
  for (const record::ResultRow& row : rows) {
    ASSERT_TRUE(row.repro.starts_with("assay ")) << row.repro;
    Assay(row.repro.substr(6) + " --no-report --out again");
    EXPECT_EQ(Outcomes("again")[row.test_id], ToString(row.outcome));
    fs::remove_all(folder_ / "again");
  }
}

// Each row is a fault; the node suite must see it on these plain operators.
TEST_F(ProgramTest, NodeSuiteCatchesEveryFaultyVariant) {
  const std::string mutant = "faulty+mutant=";
  const std::set<std::string> wrong = {mutant + "value", mutant + "shape",
                                       mutant + "dtype", mutant + "nan",
                                       mutant + "zeros", mutant + "stale"};
  EXPECT_THAT(RunOf("faulty --backend ", Joined(wrong, " --backend "), kThree,
                    "--repeats 0"),
              Ended(1));
  const auto rows = Rows("run/results.csv");
  EXPECT_EQ(rows.size(), 3 * 7U);
  for (const record::ResultRow& row : rows) {
    EXPECT_EQ(ToString(row.outcome),
              wrong.contains(row.backend) ? "fail" : "pass")
        << row.backend << " " << row.test_id;
  }
}

// The faults of random operators that leave each single draw plausible, and the
// cases whose law they break: the ten that ONNX has, or those of one kind.
TEST_F(ProgramTest, RandomCasesCatchEveryFaultyLaw) {
  const std::string random =
      " --repeats 0 --filter 'suite:node and (op:Bernoulli or "
      "id:node/Dropout/test_training_dropout "
      "or id:node/Dropout/test_training_dropout_default "
      "or id:node/Dropout/test_training_dropout_mask "
      "or id:node/Dropout/test_training_dropout_default_mask)' ";
  const struct {
    const char* mutant;
    const char* part;  // of the test_ids that must fail
    size_t n_failed;
  } rows[] = {
      {"bernoulli_p_plus_0.05", "Bernoulli", 6},
      {"constant_mask", "/", 10},
      {"dropout_unscaled", "Dropout", 4},
      {"seed_ignored", "", 6},  // those with a seed
  };
  const Ran ran = RunOf("faulty --backend faulty+mutant=",
                        Joined(rows, " --backend faulty+mutant=",
                               [](const auto& row) { return row.mutant; }),
                        random);
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  for (const auto& row : rows) {
    size_t n_failed = 0;
    for (const auto& [test_id, outcome] :
         Outcomes("run", StrCat("faulty+mutant=", row.mutant))) {
      EXPECT_THAT(outcome, AnyOf("fail", "pass")) << row.mutant << test_id;
      if (outcome != "fail") continue;
      ++n_failed;
      EXPECT_THAT(test_id, HasSubstr(row.part)) << row.mutant;
    }
    EXPECT_EQ(n_failed, row.n_failed) << row.mutant << ran.output;
  }
  EXPECT_THAT(Outcomes("run", "faulty"),
              AllOf(SizeIs(10), Each(Pair(_, "pass"))));
  EXPECT_THAT(
      Assay("run --no-report --out other --backend faulty --seed 2", random),
      Ended(0));
  EXPECT_EQ(Outcomes("other").size(), 10U);
}

TEST_F(ProgramTest, WhatOneCaseDoesToItsWorkerLeavesTheOthersAlone) {
  const struct {
    const char* setting;
    const char* outcome;
    const char* message;
  } rows[] = {
      {"crash", "crash", "SIGABRT"},
      {"exit", "crash", "exit code 0"},
      {"hang", "timeout", "time limit"},
      {"chdir", "error", "working directory"},
  };
  std::string backends = ASSAY_MISBEHAVING;
  for (const auto& row : rows) {
    backends +=
        StrCat(" --backend ", ASSAY_MISBEHAVING, "+", row.setting, "=Neg");
  }
  const Ran ran = RunOf(backends, kThree, "--timeout 5 --repeats 0");
  EXPECT_EQ(ran.exit_code, 1);
  const auto clean = Outcomes("run", "misbehaving");
  ASSERT_EQ(clean.size(), 3U) << ran.output;
  for (const auto& row : rows) {
    EXPECT_THAT(ran.output, HasSubstr(row.message));
    auto expected = clean;
    expected["node/Neg/test_neg"] = row.outcome;
    EXPECT_EQ(Outcomes("run", StrCat("misbehaving+", row.setting, "=Neg")),
              expected);
  }
}

// Kills: a repeat that hides what failed; a case blamed for what another did.
TEST_F(ProgramTest, RepeatsTellAlwaysFromAtTimesFromBehindAnother) {
  const struct {
    const char* setting;
    const char* outcome;  // of test_identity, which passes when left alone
    const char* message;
    int64_t attempts;
  } rows[] = {
      {"none=Abs", "pass", "", 1},
      {"crash=Identity", "crash", "SIGABRT", 4},
      {"flaky=Identity", "flaky", "passes 4 of 5 times", 5},
      {"poison=Abs", "flaky",
       "passes alone 3 of 3 times, error after node/Abs/test_abs", 5},
  };
  const Ran ran =
      RunOf(Joined(rows, " --backend ",
                   [](const auto& row) {
                     return StrCat(ASSAY_MISBEHAVING, "+", row.setting);
                   }),
            " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos or "
            "id:node/And/test_and2d or id:node/Identity/test_identity'");
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  const auto results = Rows("run/results.csv");
  // A merge of the same journals says the same.
  fs::remove(folder_ / "run/results.csv");
  EXPECT_EQ(Assay("run --resume run --no-report").exit_code, 1);
  for (const auto& row : rows) {
    const std::string instance = StrCat("misbehaving+", row.setting);
    const auto identity =
        std::ranges::find_if(results, [&](const record::ResultRow& result) {
          return result.backend == instance && result.op == "Identity";
        });
    ASSERT_NE(identity, results.end()) << ran.output;
    EXPECT_EQ(ToString(identity->outcome), row.outcome)
        << row.setting << ran.output;
    EXPECT_THAT(identity->message, HasSubstr(row.message)) << row.setting;
    EXPECT_EQ(identity->attempt, row.attempts) << row.setting;
    EXPECT_EQ(Outcomes("run", instance)[identity->test_id], row.outcome);
  }
}

TEST_F(ProgramTest, NoMoreThanSoManyAreRepeated) {
  RunOf("faulty+mutant=value --repeats 2", kThree);
  const auto attempts = Rows("run/attempts.csv");
  EXPECT_EQ(attempts.size(), 3U + 2 * 3);
}

TEST_F(ProgramTest, AShuffledRunHasTheSameOutcomes) {
  const std::string run =
      "run --backend reference --filter 'id:node/R*' --no-report ";
  EXPECT_EQ(Assay(run + "--jobs 1 --out plain").exit_code, 0);
  EXPECT_EQ(Assay(run + "--jobs 2 --shuffle --seed 8 --out other").exit_code,
            0);
  EXPECT_EQ(Outcomes("other"), Outcomes("plain"));
  const auto order = [&](const char* folder) {
    const auto rows = Rows(StrCat(folder, "/results.csv"));
    std::vector<std::pair<int64_t, std::string>> started;
    for (const record::ResultRow& row : rows) {
      started.emplace_back(row.started_us.value_or(0), row.test_id);
    }
    std::ranges::sort(started);
    return started.front().second;
  };
  EXPECT_NE(order("plain"), order("other"));
}

// A vendor's own protobuf and ONNX must not meet ours.
TEST_F(ProgramTest, OtherFrameworksLoadIntoAWorkerWhoseReaderHasRun) {
  std::istringstream libraries(ASSAY_OTHER_FRAMEWORKS);
  int loaded = 0;
  for (std::string library; std::getline(libraries, library, ':');) {
    const std::string run = StrCat("run", ++loaded);
    const Ran ran =
        Shell("ASSAY_TEST_LIBRARY=", library, " ", Program(), " run --backend ",
              ASSAY_MISBEHAVING, kThree, "--no-report --out ", run);
    for (const auto& [test_id, outcome] : Outcomes(run)) {
      // It echoes its input: judged, so it neither crashed nor failed to load.
      EXPECT_THAT(outcome, AnyOf("fail", "pass")) << library << ran.output;
    }
    EXPECT_EQ(Outcomes(run).size(), 3U) << library << ran.output;
  }
  if (loaded == 0) GTEST_SKIP() << "neither LibTorch nor TensorFlow is here";
}

TEST_F(ProgramTest, BackendThatDeclinesEverythingIsNotGreen) {
  EXPECT_THAT(RunOf(ASSAY_MISBEHAVING, "+decline=all", kThree),
              Ended(1, "nothing judged"));
}

TEST_F(ProgramTest, LosingACaseOfTheFloorIsRedThoughAnotherIsGained) {
  // Echo passes test_identity, which is not in the floor: gained.
  fs::create_directories(folder_ / "misbehaving.policy");
  std::ofstream(folder_ / "misbehaving.policy/passing.txt")
      << "node/Relu/test_relu\n";
  fs::create_symlink(ASSAY_MISBEHAVING, folder_ / "misbehaving.so");
  EXPECT_THAT(
      RunOf("./misbehaving.so+decline=Relu --filter "
            "'id:node/Identity/test_identity or id:node/Relu/test_relu'"),
      Ended(1, "lost from passing.txt"));
}

TEST_F(ProgramTest, ExpectationsNameTheExactOutcome) {
  const struct {
    const char* line;
    int exit_code;
    const char* outcome;
  } rows[] = {
      {"expect fail where op:Abs because \"x\"", 1, "xpass"},
      {"expect crash where op:Abs because \"x\"", 1, "xpass"},
      {"expect fail where op:Neg because \"x\"", 0, "pass"},
      {"expect fail where op:Abs because \"x\" when isa:sse2", 1, "xpass"},
      {"expect fail where op:Abs because \"x\" when not isa:sse2", 0, "pass"},
      {"expect fail where op:Abs because \"x\" when not isa:mmx", 1, "xpass"},
  };
  for (const auto& row : rows) {
    const std::string backend =
        ReferenceWith("expectations.txt", StrCat(row.line, "\n"));
    EXPECT_THAT(RunOf(backend, " --filter id:node/Abs/test_abs"),
                Ended(row.exit_code))
        << row.line;
    EXPECT_EQ(Outcomes("run")["node/Abs/test_abs"], row.outcome) << row.line;
    fs::remove_all(folder_ / "run");
  }
}

TEST_F(ProgramTest, KilledEntryMakesTheMergeFailWithTheMissingIds) {
  const std::string select = " --plan plan --parts plan/parts";
  Assay("plan --backend reference --filter 'op:Relu or op:Conv' --out plan");
  EXPECT_EQ(Assay("run --shard 1/2" + select).exit_code, 0);
  EXPECT_EQ(Assay("run --shard 2/2" + select).exit_code, 0);
  const Ran whole = Assay("merge plan --out whole --no-report");
  EXPECT_EQ(whole.exit_code, 0) << whole.output;

  // An entry that was killed leaves its part begun and without records.
  fs::remove(folder_ / "plan/parts/all.all.2of2/reference.1.journal");
  EXPECT_THAT(Assay("merge plan --out broken --no-report"),
              Ended(1, "missing: planned, but no entry"));
  // Run again, it is whole again.
  EXPECT_EQ(Assay("run --shard 2/2" + select).exit_code, 0);
  EXPECT_EQ(Assay("merge plan --out again --no-report").exit_code, 0);
  EXPECT_EQ(Outcomes("again"), Outcomes("whole"));
}

TEST_F(ProgramTest, PartsOfAnotherPlanAreRefused) {
  const std::string part = " --plan plan --parts plan/parts";
  Assay("plan --backend reference", kThree, "--out plan");
  EXPECT_EQ(Assay("run" + part).exit_code, 0);
  const std::string kept = Text("plan/parts/all.all.1of1/part.json");
  Assay("plan --backend reference --filter op:Sum --out other");
  fs::copy_file(folder_ / "other/plan.csv", folder_ / "plan/plan.csv",
                fs::copy_options::overwrite_existing);
  fs::copy_file(folder_ / "other/plan.json", folder_ / "plan/plan.json",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(Assay("merge plan --out run --no-report"),
              Ended(99, "another plan"));
}

TEST_F(ProgramTest, AModuleThatIsNotThePlannedOneIsRefused) {
  const fs::path module = folder_ / "mine.so";
  fs::copy_file(ASSAY_MISBEHAVING, module);
  const std::string run = StrCat("run --backend ./mine.so", kThree);
  Assay(run + "--no-report --out run");
  ASSERT_EQ(Outcomes("run").size(), 3U);
  std::ofstream(module, std::ios::app) << "another build of it";
  EXPECT_THAT(Assay("run --resume run --no-report"),
              Ended(99, "not the one that was planned with"));
}

TEST_F(ProgramTest, WhatRanksHaveLeftGoesWithTheRunThatGoesOn) {
  RunOf("reference", kThree);
  const fs::path left = folder_ / "run/records/openmpi.1.scratch";
  fs::create_directories(left / "session");
  EXPECT_EQ(Assay("run --resume run --no-report").exit_code, 0);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(Outcomes("run").size(), 3U);
}

TEST_F(ProgramTest, AnEntryWithAFailingCaseIsRed) {
  Assay("plan --backend faulty+mutant=value", kThree, "--out plan");
  EXPECT_THAT(Assay("run --plan plan --parts plan/parts"), Ended(1, "fail"));
}

TEST_F(ProgramTest, ACaseOverItsTimeLimitIsEnded) {
  // Far above what it takes; the program itself is to end the case.
  const Ran ran = Shell(
      "timeout -s KILL 20 ", Program(), " run --backend ", ASSAY_MISBEHAVING,
      "+hang=Relu --timeout 0.5 --repeats 0", kThree, "--no-report --out run");
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_EQ(Outcomes("run")["node/Relu/test_relu"], "timeout") << ran.output;
}

TEST_F(ProgramTest, PlanningAgainKeepsThePartsThatStillMatch) {
  const std::string plan =
      StrCat("plan --backend reference", kThree, "--out plan");
  const fs::path journal =
      folder_ / "plan/parts/all.all.1of1/reference.1.journal";
  Assay(plan);
  Assay("run --plan plan --parts plan/parts");
  ASSERT_TRUE(fs::exists(journal));
  Assay(plan);
  EXPECT_TRUE(fs::exists(journal));
  Assay("plan --backend reference --filter op:Sum --out plan");
  EXPECT_FALSE(fs::exists(journal));
}

TEST_F(ProgramTest, OthersAreJudgedTheSameWithoutTheReference) {
  const fs::path built = fs::path(Program()).parent_path().parent_path();
  const auto link = [&](const fs::path& what) {
    fs::create_directories((folder_ / "tree" / what).parent_path());
    fs::create_symlink(built / what, folder_ / "tree" / what);
  };
  // The programs look for the rest beside themselves, behind no link.
  fs::create_directories(folder_ / "tree/bin");
  for (const char* program :
       {"bin/assay", "bin/assay-host", "bin/assay-worker"}) {
    fs::copy_file(built / program, folder_ / "tree" / program);
  }
  for (const char* what :
       {"lib/libassay_core.so", "lib/libassay_core.so.0", "lib/assay/faulty.so",
        "lib/assay/faulty.policy", "lib/assay/null.so", "share/assay/corpus"}) {
    link(what);
  }
  ASSERT_FALSE(fs::exists(folder_ / "tree/lib/assay/reference.so"));
  const std::string run =
      "run --backend faulty+mutant=value --no-report --repeats 0 --corpus onnx "
      "--corpus contract --filter 'op:Softmax or op:Relu or op:run' --out ";
  const Ran with = Assay(run + "with");
  const Ran without = Shell("tree/bin/assay " + run + "without");
  EXPECT_EQ(with.exit_code, 1) << with.output;
  EXPECT_EQ(without.exit_code, 1) << without.output;
  EXPECT_GT(Outcomes("with").size(), 20U);
  EXPECT_EQ(Outcomes("without"), Outcomes("with"));
}

TEST_F(ProgramTest, KilledSupervisorLosesNoVerdictAndIsResumed) {
  const Ran killed = Shell("timeout -s KILL 2 ", Program(), " run --backend ",
                           ASSAY_MISBEHAVING, "+hang=Relu --timeout 60", kThree,
                           "--no-report --out run");
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "run/summary.json"));
  EXPECT_THAT(Assay("run --resume run --timeout 5 --repeats 0 --no-report"),
              Ended(1));
  EXPECT_EQ(Outcomes("run").size(), 3U);
  EXPECT_EQ(Outcomes("run")["node/Relu/test_relu"], "timeout");
}

TEST_F(ProgramTest, WorkersShareABackendAndVerdictsAreThoseOfOne) {
  // It is quick, and passes some cases.
  const std::string run = StrCat("run --backend ", ASSAY_MISBEHAVING,
                                 " --suite node --repeats 0 --no-report ");
  EXPECT_EQ(Assay(run + "--jobs 1 --out one").exit_code, 1);
  EXPECT_EQ(Assay(run + "--jobs 5 --out five").exit_code, 1);
  EXPECT_EQ(Assay(run + "--jobs 5 --isolation none --out alone").exit_code, 1);
  const auto outcomes = Outcomes("one");
  EXPECT_EQ(outcomes.size(), 1884U);
  EXPECT_THAT(outcomes, Contains(Pair(_, "pass")));
  EXPECT_THAT(outcomes, Contains(Pair(_, "fail")));
  EXPECT_EQ(Outcomes("five"), outcomes);
  EXPECT_EQ(Outcomes("alone"), outcomes);
  EXPECT_TRUE(fs::exists(folder_ / "five/records/misbehaving.5.journal"));
  EXPECT_FALSE(fs::exists(folder_ / "one/records/misbehaving.2.journal"));
  EXPECT_FALSE(fs::exists(folder_ / "alone/records/misbehaving.2.journal"));

  // A job takes share after share, so that none is idle at the end.
  Assay(run + "--backend null --jobs 2 --out two");
  EXPECT_TRUE(fs::exists(folder_ / "two/records/misbehaving.3.journal"));
  EXPECT_TRUE(fs::exists(folder_ / "two/records/null.6.journal"));

  // Goes on with fewer workers, from what four of the five had finished.
  fs::remove(folder_ / "five/records/misbehaving.2.journal");
  Assay("run --resume five --jobs 1 --repeats 0 --no-report");
  EXPECT_EQ(Outcomes("five"), outcomes);
}

TEST_F(ProgramTest, ReadOnlyAndFullPlacesEndWithNinetyNineAndAClearLine) {
  const Ran full =
      Shell("ulimit -f 1; ", Program(), " plan --backend null --out plan");
  EXPECT_NE(full.exit_code, 0) << full.output;
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THAT(
      Assay(
          "run --backend null --filter id:node/Abs/test_abs --no-report --out "
          "file/run"),
      Ended(99, "file/run"));
}

// Kills: a home that cannot be written to, and judges.
TEST_F(ProgramTest, WithoutACacheAnswersAreComputedAllTheSame) {
  std::ofstream(folder_ / "file") << "x";
  const char* const id = "gradcheck/Abs/test_abs#redrawn.float32";
  EXPECT_THAT(
      Shell("env XDG_CACHE_HOME= HOME=$PWD/file ", Program(),
            " run --backend reference --no-report --out run --filter 'id:", id,
            "'"),
      Ended(0, "answers to 1 of 1 cases; not kept between runs: cannot "));
  EXPECT_EQ(Outcomes("run")[id], "pass");
  EXPECT_TRUE(fs::exists(folder_ / "run/records/answers"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A thread's stack is as large as the limit of stacks, and finds no room here.
TEST_F(ProgramTest, WhereNoThreadStartsARunGoesWithout) {
  const Ran ran =
      Shell("ulimit -s 16000000 && ulimit -v 8000000 && ", Program(),
            " run --backend null --suite node --repeats 0 --no-report "
            "--out run");
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_EQ(Outcomes("run").size(), 1884U) << ran.output;
}
#endif

TEST_F(ProgramTest, ExplainNamesLimitAndWorstElement) {
  RunOf("faulty+mutant=value --filter id:node/Abs/test_abs");
  EXPECT_THAT(Assay("explain node/Abs/test_abs --run run"),
              Ended(0, "limit", "onnx runner", "worst", "want", "repro"));
  EXPECT_EQ(Assay("explain node/None/none --run run").exit_code, 2);
}

}  // namespace
}  // namespace assay::cli
