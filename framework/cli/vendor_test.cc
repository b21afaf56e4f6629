// SPDX-License-Identifier: Apache-2.0
//
// Attempts of a sloppy vendor, and the verdict that each gets; and that runs
// repeat themselves: with one seed, over any number of workers and shards, and
// case by case through the repro of each verdict.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/cli/run/run_folder.h"
#include "framework/cli/tree_fixture.h"
#include "framework/file/digest.h"
#include "framework/testing/record/rows.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kAll = "claim forward where domain:*\n";

/// Operators of the tree's cases that the reference has.
constexpr const char* kHonest =
    "claim forward where op:Abs or op:Neg or op:Relu or op:Sqrt\n";

using VendorTest = TreeTest;

struct Attempt {
  const char* what;
  const char* backend;  // instance; its name has the policy
  const char* claims;   // the text of a file, which nullptr has not
  const char* arguments;
  int exit_code;  // -1: also of cases outside the claims
  const char* verdict;
  const char* says;  // a part of what is printed, or of summary.md
  const char* expectations = nullptr;
  const char* passing = nullptr;
};

// Kills: each row a way of looking conformant.
TEST_F(VendorTest, EachAttemptGetsItsVerdict) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  const Attempt rows[] = {
      {"an honest one", "reference", kHonest, "", 0, "conformant",
       "cases inside its claims pass, of "},
      {"a tolerance under which all is right", "faulty+mutant=zeros", kAll, "",
       -1, "not conformant", "would also take zeros for right",
       "tolerate rtol=1e9 atol=1e9 where suite:node because \"x\"\n"},
      {"everything expected to fail", "faulty+mutant=value", kHonest, "", -1,
       "not conformant", "xfail",
       "expect fail where op:Abs or op:Neg or op:Relu or op:Sqrt because "
       "\"x\"\n"},
      {"claims that were emptied", "reference", "# later\n", "", 1,
       "not conformant", "claims.txt: claims nothing, so that all may be "},
      {"no claims at all", "reference", nullptr, "", 0, "not conformant",
       "it claims nothing"},
      {"claims of one operator", "reference", "claim forward where op:Sqrt\n",
       "", 0, "conformant", " cases inside its claims pass, of "},
      {"claims of what proves nothing", "reference",
       "claim forward where op:ConstantOfShape\n", "", 0, "not conformant",
       "are vacuous"},
      {"a lost device", "lost", kAll, "", 1, "not conformant", "unavailable"},
      {"a lost device, allowed", "lost", kAll, "--allow-unavailable", 77,
       "not conformant", "unavailable"},
      {"a filtered run", "reference", kHonest, "--filter op:Abs", 0, "partial",
       "a run with a filter"},
      {"one suite", "reference", kHonest, "--suite node", 0, "partial",
       "a run of some suites"},
      {"the smoke tier", "reference", kHonest, "--tier smoke", 0, "partial",
       "a run of tier smoke"},
      {"a corpus left out", "reference", kHonest, "--corpus onnx", 0, "partial",
       "without the corpora random, "},
      {"all declined", "misbehaving+decline=all", kHonest, "", 1,
       "not conformant", "declined inside its claims"},
      {"all declined, as expected", "misbehaving+decline=all", kHonest, "", 1,
       "not conformant", "expects what the claims promise",
       "expect unsupported where op:Abs because \"x\"\n"},
      {"a floor emptied while results got worse", "faulty+mutant=value",
       kHonest, "", 1, "not conformant", "do not pass: fail", nullptr,
       "# none\n"},
      {"a waiver past its date", "faulty+mutant=value", kHonest, "", 1,
       "not conformant", "was good until 2020-01-01",
       "tolerate rtol=1 atol=1 where op:Abs because \"x\" until "
       "2020-01-01\n"},
      {"a reason that is none", "reference", nullptr, "", 2, "no run",
       "the reason is empty", "expect fail where op:Abs because \"\"\n"},
  };
  LoseALibrary(tree_ / "lib/assay/lost.so");
  for (const Attempt& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string instance = row.backend;
    const std::string name = instance.substr(0, instance.find('+'));
    std::filesystem::remove_all(tree_ / "lib/assay" / (name + ".policy"));
    std::filesystem::remove_all(folder_ / "run");
    if (row.claims != nullptr) Policy(name, "claims.txt", row.claims);
    if (row.expectations != nullptr) {
      Policy(name, "expectations.txt", row.expectations);
    }
    if (row.passing != nullptr) Policy(name, "passing.txt", row.passing);
    const Ran ran = Tree("run --no-report --repeats 0 --out run --backend ",
                         instance, " ", row.arguments);
    if (row.exit_code >= 0) {
      EXPECT_EQ(ran.exit_code, row.exit_code) << ran.output;
    }
    EXPECT_EQ(Word("run").verdict, row.verdict) << ran.output;
    const auto summary = file::ReadFile(folder_ / "run/summary.md");
    EXPECT_THAT(ran.output + (summary.ok() ? *summary : ""),
                HasSubstr(row.says));
  }
}

// Kills: a word that can be had without computing, from the answers that lie
// beside the models.
TEST_F(VendorTest, AnswersThatAreLookedUpAreNotConformant) {
  Link(ASSAY_LOOKED_UP, "lib/assay/looked_up.so");
  Policy("looked_up", "claims.txt", kHonest);
  // In the judge's process it finds the models' folder, in one of its own not.
  for (const bool apart : {false, true}) {
    const std::string out = apart ? "apart" : "within";
    const Ran ran =
        Tree("run --no-report --repeats 0 --backend looked_up --out ", out,
             apart ? "" : " --host in-process");
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_EQ(Word(out).verdict, apart ? "not conformant" : "partial");
    int failed = 0;
    for (const record::ResultRow& row : Rows(out + "/results.csv")) {
      const bool honest = row.op == "Abs" || row.op == "Neg" ||
                          row.op == "Relu" || row.op == "Sqrt";
      if (!honest || (row.suite != "node" && row.suite != "redrawn")) continue;
      const bool knows = row.suite == "node" && !apart;
      EXPECT_EQ(row.outcome,
                knows ? record::Outcome::kPass : record::Outcome::kFail)
          << row.test_id << " " << row.message;
      failed += row.suite == "redrawn" ? 1 : 0;
    }
    EXPECT_GE(failed, 4) << ran.output;
  }
}

// Kills: waivers that are counted and not named.
TEST(SummaryTest, WaiversInsideTheClaimsAreListed) {
  verdict::Verdicts verdicts;
  verdicts.tallies.push_back({.backend = "acme", .corpus = "onnx"});
  verdict::Conformance& word = verdicts.conformance.emplace_back();
  word.backend = "acme";
  for (int i = 0; i < 22; ++i) {
    word.waived.push_back(StrCat("node/Abs/test_", i));
  }
  const std::string text =
      run::SummaryMarkdown(record::RunRow(), plan::Plan(), verdicts);
  EXPECT_THAT(text, HasSubstr("## Waived inside the claims of acme: 22\n"));
  EXPECT_THAT(text, HasSubstr("- node/Abs/test_19\n\nand 2 more"));
  EXPECT_THAT(run::SummaryJson(record::RunRow(), plan::Plan(), verdicts, 0),
              HasSubstr("node/Abs/test_21"));
}

TEST_F(VendorTest, PartsOfAnEditedPolicyAreRefused) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  Policy("reference", "claims.txt", kHonest);
  EXPECT_EQ(Tree("plan --backend reference --out plan").exit_code, 0);
  EXPECT_EQ(Tree("run --plan plan --parts plan/parts").exit_code, 0);
  Policy("reference", "claims.txt", "claim forward where op:Abs\n");
  EXPECT_THAT(Tree("run --plan plan --parts plan/parts"),
              Ended(99, "is not the one that was planned with"));
  // Planned again elsewhere, the old parts are not taken for the new plan's.
  EXPECT_EQ(Tree("plan --backend reference --out new").exit_code, 0);
  std::filesystem::copy(folder_ / "plan/parts", folder_ / "new/parts",
                        std::filesystem::copy_options::recursive);
  EXPECT_THAT(Tree("merge new --no-report --out run"),
              Ended(99, "another plan, module, policy or build"));
}

// Kills: a page that cannot be written for want of Python ends the run with 99.
TEST_F(VendorTest, TheVerdictStandsWithoutAPage) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  Policy("reference", "claims.txt", kHonest);
  for (const char* lacks : {"reports", "python"}) {
    const Ran ran = Shell("PATH=/nowhere tree/bin/assay run --backend ",
                          "reference --out without_", lacks);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_EQ(Word(StrCat("without_", lacks)).verdict, "conformant");
    EXPECT_THAT(ran.output, HasSubstr(", no report.html: a page needs "));
    std::filesystem::create_directories(tree_ / "share/assay/reports");
  }
}

// Kills: a table of another build shown as this one's; survivors passed over.
TEST_F(VendorTest, TheKillRateIsThatOfTheBuild) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  const struct {
    std::string build_id;
    bool killed;
    const char* verdict;
    const char* says;
  } rows[] = {
      {*file::BuildId(tree_), true, "conformant",
       "mutants: 2 of 2 killed (1 backend, "
       "1 harness)\n"},
      {*file::BuildId(tree_), false, "not conformant",
       "not killed: ignored_limit"},
      {"another", true, "conformant",
       "mutants: not assessed: mutants.csv is of another build"},
  };
  Policy("reference", "claims.txt", kHonest);
  std::filesystem::create_directories(tree_ / "share/assay");
  for (const auto& row : rows) {
    record::MutantRow backend;
    backend.mutant = "wrong_axis";
    backend.suite = "node";
    backend.killing_case = "node/Abs/test_abs";
    backend.killed = true;
    backend.build_id = row.build_id;
    record::MutantRow harness = backend;
    harness.mutant = "ignored_limit";
    harness.suite = "harness";
    harness.killed = row.killed;
    std::ofstream(tree_ / "share/assay/mutants.csv")
        << record::ToCsv(std::vector{backend, harness});
    std::filesystem::remove_all(folder_ / "run");
    const Ran ran = Tree("run --no-report --out run --backend reference");
    EXPECT_EQ(Word("run").verdict, row.verdict) << row.says;
    EXPECT_THAT(ran.output, HasSubstr(row.says));
    EXPECT_EQ(Summary("run")["mutants"]["assessed"], row.build_id != "another");
  }
}

class SameRunTest : public TreeTest {
 protected:
  /// results.csv without what the equality of two runs leaves out.
  std::string Comparable(const std::string& run) const {
    std::vector<record::ResultRow> rows = Rows(run + "/results.csv");
    for (record::ResultRow& row : rows) {
      row.run_id.clear();
      row.worker.clear();
      row.started_us.reset();
      row.load_us.reset();
      row.run_us.reset();
      row.judge_us.reset();
      row.peak_rss_kb.reset();
    }
    return record::ToCsv(rows);
  }
};

// Kills: a value that depends on time, process or order in any other column.
TEST_F(SameRunTest, OneSeedGivesTheSameResultsWithAnyNumberOfWorkers) {
  const std::string run =
      "run --backend reference --suite node --suite contract --seed 7 "
      "--filter 'suite:contract or op:R* or op:S* or op:B*' --no-report ";
  std::string first;
  for (const char* jobs : {"1", "2", "3"}) {
    const std::string out = StrCat("jobs", jobs);
    EXPECT_THAT(Assay(run, "--jobs ", jobs, " --out ", out), Ended(0));
    EXPECT_GT(Rows(StrCat(out, "/results.csv")).size(), 300U);
    if (first.empty()) first = Comparable(out);
    EXPECT_EQ(Comparable(out), first) << jobs;
  }
}

// Kills: a case lost or judged twice between shards.
TEST_F(SameRunTest, AnyNumberOfShardsGivesTheSameResults) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  EXPECT_EQ(TreeRunOf("reference").exit_code, 0);
  const std::string whole = Comparable("run");
  EXPECT_GT(Rows("run/results.csv").size(), 40U);
  for (const int n : {1, 3, 7}) {
    const std::string plan = StrCat("plan", n);
    Tree("plan --backend reference --out ", plan);
    for (int i = 1; i <= n; ++i) {
      EXPECT_THAT(Tree("run --plan ", plan, " --parts ", plan,
                       "/parts --shard ", i, "/", n),
                  Ended(0));
    }
    const std::string out = StrCat("merged", n);
    EXPECT_EQ(Tree("merge ", plan, " --no-report --out ", out).exit_code, 0);
    EXPECT_EQ(Comparable(out), whole) << n;
  }
}

}  // namespace
}  // namespace assay::cli
