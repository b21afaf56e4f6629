// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::converge {
namespace {

using ::testing::HasSubstr;

// By hand: 70 ways to deal four and four, and only these two keep them apart.
TEST(CompareTest, CountsTheWaysToDeal) {
  const auto found =
      Compare(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 6, 7, 8});
  ASSERT_TRUE(found.ok());
  EXPECT_DOUBLE_EQ(found->p, 2.0 / 70);
  EXPECT_NEAR(found->ratio, std::pow(1680.0 / 24, 0.25), 1e-12);
  EXPECT_TRUE(found->is_apart());
}

TEST(CompareTest, EqualNumbersAreNotApart) {
  const std::vector<double> same = {640, 640, 640, 640};
  const auto found = Compare(same, same);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->p, 1);
  EXPECT_DOUBLE_EQ(found->ratio, 1);
  EXPECT_NEAR(found->low, 1, 1e-6);
  EXPECT_NEAR(found->high, 1, 1e-6);
  EXPECT_DOUBLE_EQ(found->least, 1);
}

// Kills: a test of one direction; one that takes the first for the second.
TEST(CompareTest, BothDirectionsCount) {
  const std::vector<double> few = {900, 1000, 1100, 1000, 950};
  std::vector<double> many = few;
  for (double& count : many) count *= 1.5;
  const auto slower = Compare(few, many), faster = Compare(many, few);
  ASSERT_TRUE(slower.ok() && faster.ok());
  EXPECT_NEAR(slower->ratio, 1.5, 1e-12);
  EXPECT_TRUE(slower->is_apart());
  EXPECT_TRUE(faster->is_apart());
  EXPECT_NEAR(faster->ratio * slower->ratio, 1, 1e-12);
  EXPECT_NEAR(faster->low * slower->high, 1, 1e-3);
  EXPECT_LT(slower->low, 1.5);
  EXPECT_GT(slower->low, 1.3);
  EXPECT_LT(slower->high, 1.7);
}

// Kills: an interval that has ratios which the test rejects, or lacks others.
TEST(CompareTest, TheIntervalIsOfTheTest) {
  const std::vector<double> a = {900, 1000, 1100, 1010, 950};
  const std::vector<double> b = {1500, 1200, 1900, 1400, 1600};
  const auto found = Compare(a, b);
  ASSERT_TRUE(found.ok());
  const auto p_where_b_takes = [&](double ratio) {
    std::vector<double> shifted = b;
    for (double& count : shifted) count /= ratio;
    return Compare(a, shifted)->p;
  };
  EXPECT_GT(p_where_b_takes(found->low * 1.0001), kSignificance);
  EXPECT_LE(p_where_b_takes(found->low / 1.0001), kSignificance);
  EXPECT_GT(p_where_b_takes(found->high / 1.0001), kSignificance);
  EXPECT_LE(p_where_b_takes(found->high * 1.0001), kSignificance);
}

/// Draws eight seeds for each of two groups, one of which takes `ratio` times
/// the samples, and counts how often they are found apart.
double ShareFound(double ratio, double* least) {
  std::mt19937 engine(7);
  std::normal_distribution<double> logs(0, 0.2);
  constexpr int kTrials = 200;
  int found = 0;
  *least = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> a(8), b(8);
    for (double& x : a) x = std::exp(logs(engine));
    for (double& x : b) x = ratio * std::exp(logs(engine));
    const auto compared = Compare(a, b);
    EXPECT_TRUE(compared.ok());
    found += compared->is_apart() ? 1 : 0;
    *least += std::log(compared->least) / kTrials;
  }
  return static_cast<double>(found) / kTrials;
}

// Kills: an error of the first kind, or a power, other than stated. The share
// of 200 draws is within three standard deviations, 0.046 and 0.085.
TEST(CompareTest, FindsAsOftenAsItSays) {
  double least = 0;
  EXPECT_NEAR(ShareFound(1, &least), kSignificance, 0.046);
  EXPECT_NEAR(ShareFound(std::exp(least), &least), kPower, 0.085);
}

TEST(CompareTest, SaysWhatIsWrong) {
  const std::vector<double> four = {1, 2, 3, 4}, three = {1, 2, 3},
                            none = {1, 2, 3, 0}, many(13, 1.0);
  EXPECT_THAT(Compare(four, three).status().message(),
              HasSubstr("found 3 seeds, wanted 4 to 12"));
  EXPECT_THAT(Compare(many, four).status().message(), HasSubstr("13 seeds"));
  EXPECT_THAT(Compare(none, four).status().message(),
              HasSubstr("found 0 samples, wanted more than 0"));
}

}  // namespace
}  // namespace assay::converge
