// SPDX-License-Identifier: Apache-2.0

#include "perf/summary/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::summary {
namespace {

using record::Outcome;
using testing::HasSubstr;

constexpr char kGemm[] = "time/Gemm/deepbench.train.gemm.m1760n16k1760nn";
constexpr char kLogits[] = "time/Gemm/resnet50.gemm.m1n1000k2048nt";

/// A result, and its fate and time where it has them.
void Add(TimedRun* run, const std::string& test_id, Outcome outcome,
         const std::string& fate = "", double ns = 0,
         const std::string& backend = "b") {
  record::ResultRow& result = run->results.emplace_back();
  result.test_id = test_id;
  result.backend = backend;
  result.outcome = outcome;
  if (!fate.empty()) {
    times::ProblemRow& problem = run->problems.emplace_back();
    static_cast<record::Key&>(problem) = result;
    problem.fate = fate;
  }
  if (ns == 0) return;
  for (const std::string cache : {"warm", "cold"}) {
    times::TimeRow& time = run->times.emplace_back();
    static_cast<record::Key&>(time) = result;
    time.phase = time.cache_mode = cache;
    time.median_ns = cache == "warm" ? ns : 10 * ns;
  }
}

// Kills: a problem that is counted twice or not at all, a fate that is another,
// a case that is no problem.
TEST(TalliesOf, CountEachProblemOnce) {
  TimedRun run;
  Add(&run, kGemm, Outcome::kPass, "timed", 5);
  Add(&run, "time/Gemm/deepbench.train.gemm.m1760n32k1760nn",
      Outcome::kUnsupported, "too big by memory");
  Add(&run, "time/Gemm/deepbench.train.gemm.m1760n64k1760nn",
      Outcome::kTimeout);
  Add(&run, "time/Gemm/deepbench.train.gemm.m1760n128k1760nn", Outcome::kCrash);
  Add(&run, "time/all_reduce/deepbench.train.all_reduce.100000",
      Outcome::kUnavailable);
  Add(&run, "time/Add/test_add", Outcome::kPass, "", 5);
  Add(&run, "node/Add/test_add", Outcome::kPass);
  Add(&run, kLogits, Outcome::kFail, "failed");
  const auto tallies = TalliesOf(run);
  EXPECT_EQ(tallies.size(), 2);
  EXPECT_EQ(tallies.at({"b", "deepbench"}).ToString(),
            "timed 1, declined 1, too big by memory 1, too big by time 1, "
            "failed 1: 5");
  EXPECT_EQ(tallies.at({"b", "resnet50"}).total(), 1);
}

// Kills: a layer that counts once however often it is there, one without a time
// that is passed over, a time of cold calls, another backend's.
TEST(NetworksOf, AreTheSumsOfTheirLayers) {
  TimedRun run;
  Add(&run, kLogits, Outcome::kPass, "timed", 7);
  Add(&run, "time/Add/resnet50.graph.add_512x28", Outcome::kPass, "timed", 100);
  Add(&run, "time/Add/resnet50.graph.add_256x56", Outcome::kFail, "failed");
  Add(&run, "time/light/light_resnet50", Outcome::kPass, "", 600);
  Add(&run, "time/light/light_resnet50", Outcome::kPass, "", 500, "a");
  Add(&run, kGemm, Outcome::kPass, "timed", 5);
  const auto networks = NetworksOf(run);
  ASSERT_EQ(networks.size(), 1);
  EXPECT_EQ(networks[0].set, "resnet50");
  EXPECT_EQ(networks[0].sum_ns, 4 * 100 + 7);
  EXPECT_EQ(networks[0].n_timed, 5);
  EXPECT_EQ(networks[0].n_layers, 8);
  EXPECT_EQ(networks[0].whole, "time/light/light_resnet50");
  EXPECT_EQ(networks[0].whole_ns, 600);
}

// Kills: families that are mixed, a time beside another size, an interval where
// there is none.
TEST(ScalingsOf, AreOfFamiliesAndOfThreads) {
  TimedRun run;
  for (const int n : {64, 128, 256, 512, 1024}) {
    Add(&run, StrCat("time/Gemm/scaling.product.gemm#size", n), Outcome::kPass,
        "timed", static_cast<double>(n) * n * n);
  }
  for (const int n : {1, 4}) {
    Add(&run, StrCat("time/Conv/scaling.convolution.conv#batch", n),
        Outcome::kPass, "timed", 100 * n);
  }
  Add(&run, "time/Add/test_add", Outcome::kPass, "", 900, "a+threads=1+x=2");
  Add(&run, "time/Add/test_add", Outcome::kPass, "", 300, "a+x=2+threads=3");
  for (times::TimeRow& row : run.times) {
    if (row.backend == "a+threads=1+x=2") row.threads = 1;
    if (row.backend == "a+x=2+threads=3") row.threads = 3;
  }
  const auto rows = ScalingsOf(run);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].backend, "a+x=2");
  EXPECT_EQ(rows[0].test_id, "time/Add/test_add#threads");
  EXPECT_NEAR(rows[0].exponent.value(), -1, 1e-9);
  EXPECT_EQ(rows[1].axis, "batch");
  EXPECT_EQ(rows[1].sizes, "1 4");
  EXPECT_EQ(rows[1].median_ns, "100 400");
  EXPECT_NEAR(rows[1].exponent.value(), 1, 1e-9);
  EXPECT_FALSE(rows[1].ci95_lo.has_value());
  EXPECT_EQ(rows[2].test_id, "time/Gemm/scaling.product.gemm#size");
  EXPECT_NEAR(rows[2].exponent.value(), 3, 1e-9);
  EXPECT_NEAR(rows[2].ci95_hi.value(), 3, 1e-9);
}

// Kills: a family with a time of wrong work, a point with another one's
// interval, sums that are no rows of their table.
TEST(ScalingsOf, AreRecordsOfCasesThatAreRight) {
  std::vector<record::Record> finals;
  for (const int n : {1, 2, 4}) {
    record::Record& record = finals.emplace_back();
    record.result.run_id = "r";
    record.result.test_id =
        StrCat("time/Conv/scaling.convolution.conv#batch", n);
    record.result.outcome = n == 4 ? Outcome::kFail : Outcome::kPass;
    times::TimeRow time;
    time.phase = time.cache_mode = "warm";
    time.median_ns = 10 * n;
    if (n == 2) time.ci95_lo_ns = 19;
    record.Add(time);
  }
  const auto sums = SumsOf(finals);
  ASSERT_EQ(sums.size(), 1);
  const auto row = Got(sums[0].Rows<times::ScalingRow>()).at(0);
  EXPECT_EQ(row.run_id, "r");
  EXPECT_EQ(row.test_id, "time/Conv/scaling.convolution.conv#batch");
  EXPECT_EQ(row.sizes, "1 2");
  EXPECT_EQ(row.ci95_lo_ns, "nan 19");
  EXPECT_EQ(row.exponent, 1);
}

// Kills: a run that cannot be read and says nothing.
TEST(ReadRun, ReadsItsTables) {
  TimedRun run;
  Add(&run, kGemm, Outcome::kPass, "timed", 5);
  const file::ScratchFolder folder;
  folder.Write("results.csv", record::ToCsv(run.results));
  folder.Write("problems.csv", record::ToCsv(run.problems));
  EXPECT_THAT(ReadRun(folder.path()), Says("time.csv"));
  folder.Write("time.csv", record::ToCsv(run.times));
  EXPECT_THAT(TextOf(Got(ReadRun(folder.path()))),
              HasSubstr("b: deepbench: timed 1, declined 0"));
}

}  // namespace
}  // namespace assay::summary
