// SPDX-License-Identifier: Apache-2.0
//
// Runs repeat themselves: with one seed, over any number of workers and shards,
// and case by case through the repro of each verdict.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "framework/cli/tree_fixture.h"

namespace assay::cli {
namespace {

class SameRunTest : public TreeTest {
 protected:
  std::vector<record::ResultRow> Rows(const std::string& run) const {
    const auto csv = file::ReadFile(folder_ / run / "results.csv");
    if (!csv.ok()) return {};
    auto rows = record::ParseCsv<record::ResultRow>(*csv);
    return rows.ok() ? *rows : std::vector<record::ResultRow>();
  }

  /// results.csv without what the equality of two runs leaves out.
  std::string Comparable(const std::string& run) const {
    std::vector<record::ResultRow> rows = Rows(run);
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
    const Ran ran = Assay(StrCat(run, "--jobs ", jobs, " --out ", out));
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_GT(Rows(out).size(), 300U);
    if (first.empty()) first = Comparable(out);
    EXPECT_EQ(Comparable(out), first) << jobs;
  }
}

// Kills: a case lost or judged twice between shards.
TEST_F(SameRunTest, AnyNumberOfShardsGivesTheSameResults) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  EXPECT_EQ(Tree("run --backend reference --no-report --out run").exit_code, 0);
  const std::string whole = Comparable("run");
  EXPECT_GT(Rows("run").size(), 40U);
  for (const int n : {1, 3, 7}) {
    const std::string plan = StrCat("plan", n);
    Tree(StrCat("plan --backend reference --out ", plan));
    for (int i = 1; i <= n; ++i) {
      const Ran ran = Tree(StrCat("run --plan ", plan, " --parts ", plan,
                                  "/parts --shard ", i, "/", n));
      EXPECT_EQ(ran.exit_code, 0) << ran.output;
    }
    const std::string out = StrCat("merged", n);
    EXPECT_EQ(
        Tree(StrCat("merge ", plan, " --no-report --out ", out)).exit_code, 0);
    EXPECT_EQ(Comparable(out), whole) << n;
  }
}

// Kills: a repro that leaves out what decides the outcome.
TEST_F(SameRunTest, TheReproOfEveryKindOfVerdictGivesItAgain) {
  const struct {
    const char* backend;
    const char* more;
    const char* test_id;
    const char* outcome;
  } rows[] = {
      {"faulty+mutant=value", "", "node/Neg/test_neg", "fail"},
      {"faulty+mutant=value", "", "node/Abs/test_abs", "xfail"},
      {"misbehaving+chdir=Neg", "", "node/Neg/test_neg", "error"},
      {"misbehaving+crash=Neg", "", "node/Neg/test_neg", "crash"},
      {"misbehaving+decline=Neg", "", "node/Neg/test_neg", "unsupported"},
      {"misbehaving+hang=Neg", "--timeout 2", "node/Neg/test_neg", "timeout"},
  };
  Policy("faulty", "expectations.txt",
         "expect fail where id:node/Abs/test_abs because \"x\"\n");
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.backend, " ", row.outcome));
    Tree(StrCat("run --no-report --repeats 0 --out run --backend ", row.backend,
                " ", row.more,
                " --filter 'id:node/*/test_abs or id:node/*/test_neg'"));
    EXPECT_EQ(Outcomes("run")[row.test_id], row.outcome);
    for (const record::ResultRow& result : Rows("run")) {
      if (result.test_id != row.test_id) continue;
      ASSERT_TRUE(result.repro.starts_with("assay run ")) << result.repro;
      const Ran again = Tree(StrCat(result.repro.substr(6),
                                    " --no-report --repeats 0 --out again"));
      EXPECT_EQ(Outcomes("again")[row.test_id], row.outcome) << again.output;
    }
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::remove_all(folder_ / "again");
  }
}

}  // namespace
}  // namespace assay::cli
