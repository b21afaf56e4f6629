// SPDX-License-Identifier: Apache-2.0

#include "perf/power/alarms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/timing/drawn_times_fixture.h"

namespace assay::power {
namespace {

constexpr timing::Thresholds kOne = {.margin = 0.01};

/// Comparisons of two that differ by `bias`, of some cases.
std::vector<Recorded> RecordedWith(double bias, int per_case = 3) {
  core::Numbers numbers(3);
  std::vector<Recorded> all;
  for (const char* id : {"a", "b", "c", "d"}) {
    for (int i = 0; i < per_case; ++i) {
      Recorded one = {id, std::vector<double>(20)};
      for (double& log_ratio : one.log_ratios) {
        log_ratio = bias + 0.01 * timing::Normal(numbers);
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

// Kills: a draw that loses what all groups have in common, or keeps it where
// signs are drawn.
TEST(AlarmsOf, KeepsABiasUnlessSignsAreDrawn) {
  constexpr Drawing kGroups = {.families = 100};
  constexpr Drawing kSigns = {.signs = true, .families = 100};
  const auto fair = RecordedWith(0);
  const auto biased = RecordedWith(0.05);
  for (const Drawing& drawing : {kGroups, kSigns}) {
    const Alarms alarms = AlarmsOf(fair, kOne, drawing);
    EXPECT_EQ(alarms.n_drawn, 400);
    EXPECT_EQ(alarms.n_told, 0);
  }
  EXPECT_EQ(AlarmsOf(biased, kOne, kGroups).n_told, 400);
  EXPECT_LE(AlarmsOf(biased, kOne, kSigns).n_told, 4);
}

// Kills: a second set that is the first one, which confirms itself.
TEST(AlarmsOf, ASecondComparisonConfirms) {
  auto once = RecordedWith(0, 2);
  for (size_t i = 0; i < once.size(); i += 2) {
    for (double& log_ratio : once[i].log_ratios) log_ratio += 0.05;
  }
  const Alarms alarms = AlarmsOf(once, kOne, {.families = 100});
  EXPECT_GT(alarms.n_apart, 150);
  EXPECT_EQ(alarms.n_told, 0);
}

// Kills: numbers of another column, and rows that do not read and are left out.
TEST(ReadRecorded, TakesTheColumnsOfTheTable) {
  const auto all =
      Got(ReadRecorded("p,test_id,log_ratios\n9,a,0.5 -0.25\n9,b,\n9,a,1\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].case_id, "a");
  EXPECT_THAT(all[0].log_ratios, testing::ElementsAre(0.5, -0.25));
  EXPECT_THAT(all[1].log_ratios, testing::ElementsAre(1));
  EXPECT_THAT(ReadRecorded("test_id\na\n").status().message(),
              testing::HasSubstr("found no columns"));
  EXPECT_THAT(ReadRecorded("test_id,log_ratios\na,1 x\n").status().message(),
              testing::HasSubstr("line 2: found x among log_ratios"));
  EXPECT_THAT(ReadRecorded("test_id,log_ratios\na\n").status().message(),
              testing::HasSubstr("line 2: found 1 fields, wanted 2"));
}

}  // namespace
}  // namespace assay::power
