// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/compare/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/program_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using timing::Verdict;

constexpr double kMargin = 0.03;

/// A median of so many nanoseconds, known to half a percent to each side.
times::TimeRow TimeOf(const std::string& name, double ns,
                      const std::string& backend = "b") {
  times::TimeRow row;
  row.test_id = StrCat("time/Add/", name);
  row.backend = backend;
  row.phase = row.cache_mode = "warm";
  row.median_ns = ns;
  row.ci95_lo_ns = ns * 0.995;
  row.ci95_hi_ns = ns * 1.005;
  return row;
}

TimedRun RunOf(const char* folder, std::vector<times::TimeRow> warm) {
  TimedRun run = {.folder = folder, .env_id = "e"};
  run.environment = {{"cores", "2"}, {"kernel", "6.1"}};
  for (const times::TimeRow& row : warm) {
    record::PlanRow planned;
    planned.test_id = row.test_id;
    planned.backend = row.backend;
    planned.suite = planned.corpus = "time";
    run.plan.rows.push_back(planned);
  }
  for (const char* name : {"a", "b", "c"}) {
    plan::BackendUse use;
    use.instance = use.spec = name;
    run.plan.backends.push_back(use);
    record::BackendRow described;
    described.backend = name;
    described.module_sha256 = "0";
    run.backends.push_back(described);
  }
  run.warm = std::move(warm);
  return run;
}

// Kills: a better or a worse of times that nobody took side by side, and a same
// of times that are not known well, or of a machine that was not quiet.
TEST(RunComparison, SaysSameOrUnsure) {
  const auto wide = [](times::TimeRow row) {
    row.ci95_hi_ns = *row.median_ns * 1.04;
    return row;
  };
  auto none = TimeOf("none", 1000);
  none.ci95_lo_ns.reset();
  none.ci95_hi_ns.reset();
  auto noisy = TimeOf("noisy", 1000);
  noisy.noisy = true;
  const TimedRun base =
      RunOf("r1", {TimeOf("same", 1000), TimeOf("slow", 1000),
                   TimeOf("fast", 1000), TimeOf("wide", 1000),
                   TimeOf("none", 1000), TimeOf("noisy", 1000)});
  const TimedRun candidate = RunOf(
      "r2", {TimeOf("same", 1010), TimeOf("slow", 2000), TimeOf("fast", 500),
             wide(TimeOf("wide", 1000)), none, noisy});
  const auto found = Got(CompareRuns(base, candidate, kMargin));
  ASSERT_EQ(found.all.size(), 6U);
  EXPECT_EQ(found.all[0].verdict, Verdict::kSame);
  EXPECT_DOUBLE_EQ(*found.all[0].first.ratio, 1.01);
  EXPECT_DOUBLE_EQ(*found.all[0].first.ci95_lo, 1.01 * 0.995 / 1.005);
  EXPECT_DOUBLE_EQ(*found.all[0].first.ci95_hi, 1.01 * 1.005 / 0.995);
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(found.all[i].verdict, Verdict::kUnsure) << found.all[i].test_id;
  }
  const std::string text = RunsText(found, base, candidate, kMargin);
  EXPECT_THAT(text, AllOf(HasSubstr("r2 beside r1, 6 cases"),
                          HasSubstr("\n1 same, 5 unsure\n"),
                          HasSubstr("+100 % [+98 %, +102 %], 1 to 2 us\n"),
                          HasSubstr("assay compare b b --filter "
                                    "'id:compare/Add/slow'"),
                          HasSubstr("; noisy\n"), Not(HasSubstr("only")),
                          Not(HasSubstr("builds"))));
  EXPECT_LE(cli::Widest(text), 80U) << text;
}

// Kills: cases of another backend, mode or run that are taken for one another.
TEST(RunComparison, CasesAreThoseOfBoth) {
  auto cold = TimeOf("x", 5);
  cold.cache_mode = "other";
  const TimedRun base = RunOf(
      "r1", {TimeOf("x", 1000, "a"), TimeOf("x", 2000), TimeOf("gone", 1)});
  TimedRun candidate = RunOf("r2", {TimeOf("x", 2000), cold, TimeOf("new", 1)});
  auto found = Got(CompareRuns(base, candidate, kMargin));
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].first.base, "b");
  EXPECT_EQ(found.all[0].first.ratio, 1);
  EXPECT_EQ(found.n_alone, 3);
  candidate.backends[1].module_sha256 = "1";
  found = Got(CompareRuns(base, candidate, kMargin));
  EXPECT_THAT(
      RunsText(found, base, candidate, kMargin),
      AllOf(HasSubstr("Timed in one of the two only: 3.\n"),
            HasSubstr("The runs had two builds of b: to confirm, give")));
  const TimedRun other = RunOf("r3", {TimeOf("x", 1000, "c")});
  found = Got(CompareRuns(RunOf("r1", {TimeOf("x", 1000)}), other, kMargin));
  EXPECT_EQ(found.all[0].first.base, "b");
  EXPECT_EQ(found.all[0].first.backend, "c");
  EXPECT_THAT(found.confirms[0],
              HasSubstr("assay compare b c --filter 'id:compare/Add/x'"));
}

// Kills: times of two machines that are held beside each other.
TEST(RunComparison, WhatCannotBeComparedIsSaid) {
  const TimedRun base = RunOf("r1", {TimeOf("x", 1), TimeOf("x", 1, "a")});
  TimedRun elsewhere = base;
  elsewhere.folder = "r2";
  elsewhere.env_id = "f";
  elsewhere.environment = {{"cores", "4"}, {"kernel", "6.1"}, {"smt", "on"}};
  EXPECT_EQ(CompareRuns(base, elsewhere, kMargin).status().message(),
            "r1 and r2 were timed in two environments, wanted one; they differ "
            "in cores (2; 4), smt (none; on)");
  EXPECT_EQ(CompareRuns(base, RunOf("r2", {TimeOf("x", 1, "c")}), kMargin)
                .status()
                .message(),
            "found times of a, b in r1 and of c in r2, wanted a backend that "
            "both have, or one in each");
  EXPECT_EQ(CompareRuns(base, RunOf("r2", {TimeOf("y", 1)}), kMargin)
                .status()
                .message(),
            "found no case that was timed in r1 and in r2, wanted one");
}

}  // namespace
}  // namespace assay::compare
