// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/compare/comparison_report.h"

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

constexpr timing::Thresholds kThresholds = {.margin = 0.03};

/// A ratio with an interval of half a percent to each side.
times::CompareRow RowOf(double ratio, double p_value = 1e-6) {
  times::CompareRow row;
  row.backend = "candidate";
  row.base = "base";
  row.n_blocks = 100;
  row.n_groups = 20;
  row.inner_iters = 8;
  row.base_ns = 10'000;
  row.candidate_ns = 10'000 * ratio;
  row.ratio = ratio;
  row.ci95_lo = ratio - 0.005;
  row.ci95_hi = ratio + 0.005;
  row.p_value = p_value;
  row.lag1_autocorr = 0.25;
  return row;
}

Compared CaseOf(const char* name, times::CompareRow first) {
  return {StrCat("compare/Add/", name), std::move(first), {}};
}

Verdict VerdictOn(const times::CompareRow& first,
                  std::optional<times::CompareRow> second = {}) {
  std::vector<Compared> all = {CaseOf("a", first)};
  all[0].second = std::move(second);
  AddQValues(&all);
  AddVerdicts(kThresholds, &all);
  return all[0].verdict;
}

// Kills: a slowdown that one set of blocks says; one to the other side.
TEST(ComparisonReport, WorseIsWhatTwoSetsSay) {
  EXPECT_EQ(VerdictOn(RowOf(1.001)), Verdict::kSame);
  EXPECT_EQ(VerdictOn(RowOf(1.2)), Verdict::kUnsure);
  EXPECT_EQ(VerdictOn(RowOf(1.2), RowOf(1.001, 0.5)), Verdict::kUnsure);
  EXPECT_EQ(VerdictOn(RowOf(1.2), RowOf(0.8)), Verdict::kUnsure);
  EXPECT_EQ(VerdictOn(RowOf(1.2), RowOf(1.2, 0.5)), Verdict::kUnsure);
  EXPECT_EQ(VerdictOn(RowOf(1.2), RowOf(1.15)), Verdict::kWorse);
  EXPECT_EQ(VerdictOn(RowOf(0.8), RowOf(0.8)), Verdict::kBetter);
  EXPECT_EQ(VerdictOn(RowOf(1.03), RowOf(1.03)), Verdict::kUnsure);
  times::CompareRow few = RowOf(1.2);
  few.ci95_lo.reset();
  EXPECT_EQ(VerdictOn(few, RowOf(1.2)), Verdict::kUnsure);
}

// Kills: a case among many that is found by chance.
TEST(ComparisonReport, QValuesAreThoseOfAllCases) {
  std::vector<Compared> all;
  for (int i = 0; i < 20; ++i) all.push_back(CaseOf("x", RowOf(1.2, 0.9)));
  all[7].first = RowOf(1.2, 0.02);
  AddQValues(&all);
  EXPECT_DOUBLE_EQ(all[7].q_value, 0.4);
  EXPECT_DOUBLE_EQ(all[0].q_value, 0.9);
  EXPECT_FALSE(LooksApart(all[7], kThresholds));
  all = {all[7]};
  AddQValues(&all);
  EXPECT_DOUBLE_EQ(all[0].q_value, 0.02);
  EXPECT_TRUE(LooksApart(all[0], kThresholds));
  EXPECT_FALSE(LooksApart(all[0], {.margin = 0.3}));
}

std::vector<Compared> Mixed() {
  std::vector<Compared> all = {
      CaseOf("same", RowOf(1.001)), CaseOf("slower", RowOf(1.124)),
      CaseOf("faster", RowOf(0.5)), CaseOf("slowest", RowOf(3)),
      CaseOf("unsure", RowOf(1.2))};
  for (const size_t i : {1, 2, 3}) all[i].second = all[i].first;
  AddQValues(&all);
  AddVerdicts(kThresholds, &all);
  return all;
}

// Kills: a count of another verdict; a case of no verdict that is told; the
// greatest change last; a line that a terminal breaks.
TEST(ComparisonReport, TextHasCountsAndTheGreatestChangesFirst) {
  const std::string text =
      TextOf(Mixed(), "onednn", "onednn+isa=sse41", kThresholds);
  EXPECT_THAT(text,
              AllOf(HasSubstr("onednn+isa=sse41 beside onednn, 5 cases; a "
                              "change of 3 % counts for nothing.\n"),
                    HasSubstr("1 same, 1 better, 2 worse, 1 unsure\n"),
                    HasSubstr("  worse   compare/Add/slower\n          +12.4 % "
                              "[+11.9 %, +12.9 %], 10 to 11.24 us; found from "
                              "+3.8 % on\n"),
                    HasSubstr("-50 % [-50.5 %, -49.5 %]"),
                    HasSubstr("  same    compare/Add/same\n          +0.1 % "
                              "[-0.4 %, +0.6 %], 10 to 10.01 us; found from "
                              "+4 % on\n"),
                    HasSubstr("A slowdown is found by 95 in 100 comparisons "
                              "from +3.8 % on in the median case,\nfrom +4.9 "
                              "% on in the worst.")));
  const std::vector<std::string> order = {"/slowest", "/faster", "/slower",
                                          "/unsure", "/same"};
  EXPECT_TRUE(std::ranges::is_sorted(
      order, {}, [&](const std::string& name) { return text.find(name); }));
  EXPECT_LE(cli::Widest(text), 80U);
  EXPECT_THAT(TextOf({}, "a", "b", kThresholds),
              AllOf(HasSubstr("0 cases"), Not(HasSubstr("slowdown"))));
  Compared few = CaseOf("few", RowOf(1.2));
  few.first.ci95_lo.reset();
  EXPECT_THAT(TextOf({few}, "a", "b", kThresholds),
              HasSubstr("12 us; too few groups to find any\n"));
}

TEST(ComparisonReport, LongNamesAndManyCasesFitATerminal) {
  Compared one = Mixed()[1];
  one.test_id = StrCat("compare/Add/", std::string(100, 'x'));
  one.first.base_ns = 123'456'789'012;
  const std::string text =
      TextOf(std::vector<Compared>(30, one), "a", "b", kThresholds);
  EXPECT_LE(cli::Widest(text), 80U) << text;
  EXPECT_THAT(text, HasSubstr("  and 10 more\n"));
}

// Kills: a column under the name of another.
TEST(ComparisonReport, CsvHasARowACase) {
  const std::string csv = CsvOf(Mixed(), kThresholds);
  EXPECT_THAT(csv, testing::StartsWith("test_id,backend,base,verdict,ratio,"));
  EXPECT_THAT(csv, HasSubstr("\ncompare/Add/slowest,candidate,base,worse,3,"
                             "2.995,3.005,"));
  EXPECT_THAT(csv, HasSubstr("\ncompare/Add/same,candidate,base,same,1.001,"));
  std::string_view rest = csv;
  int lines = 0;
  for (; !rest.empty(); ++lines) {
    EXPECT_EQ(std::ranges::count(CutFront(&rest), ','), 22);
  }
  EXPECT_EQ(lines, 6);
}

// Kills: a ratio of wrong outputs.
TEST(ComparisonReport, ARecordWithoutAPassHasNoComparison) {
  record::Record record;
  record.result.test_id = "compare/Add/a";
  record.result.outcome = record::Outcome::kPass;
  EXPECT_FALSE(Got(ComparedIn(record)).has_value());
  record.Add(RowOf(1.5));
  EXPECT_EQ(Got(ComparedIn(record))->first.ratio, 1.5);
  record.result.outcome = record::Outcome::kSuspect;
  EXPECT_FALSE(Got(ComparedIn(record)).has_value());
}

}  // namespace
}  // namespace assay::compare
