// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/format/datasets.h"

namespace assay::converge {
namespace {

using ::testing::ElementsAre;

// By hand: 70 ways to deal four and four, and only these two keep them apart.
TEST(CompareTest, CountsTheWaysToDeal) {
  const auto found = Got(Compare(std::vector<double>{1, 2, 3, 4},
                                 std::vector<double>{5, 6, 7, 8}));
  EXPECT_DOUBLE_EQ(found.p, 2.0 / 70);
  EXPECT_NEAR(found.ratio, std::pow(1680.0 / 24, 0.25), 1e-12);
  EXPECT_TRUE(found.is_apart());
}

TEST(CompareTest, EqualNumbersAreNotApart) {
  const std::vector<double> same = {640, 640, 640, 640};
  const auto found = Got(Compare(same, same));
  EXPECT_EQ(found.p, 1);
  EXPECT_DOUBLE_EQ(found.ratio, 1);
  EXPECT_NEAR(found.low, 1, 1e-6);
  EXPECT_NEAR(found.high, 1, 1e-6);
  EXPECT_DOUBLE_EQ(found.least, 1);
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
  const auto found = Got(Compare(a, b));
  const auto p_where_b_takes = [&](double ratio) {
    std::vector<double> shifted = b;
    for (double& count : shifted) count /= ratio;
    return Compare(a, shifted)->p;
  };
  EXPECT_GT(p_where_b_takes(found.low * 1.0001), kSignificance);
  EXPECT_LE(p_where_b_takes(found.low / 1.0001), kSignificance);
  EXPECT_GT(p_where_b_takes(found.high / 1.0001), kSignificance);
  EXPECT_LE(p_where_b_takes(found.high * 1.0001), kSignificance);
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
  EXPECT_THAT(Compare(four, three), Says("found 3 seeds, wanted 4 to 12"));
  EXPECT_THAT(Compare(many, four), Says("13 seeds"));
  EXPECT_THAT(Compare(none, four), Says("found 0 samples, wanted more than 0"));
}

Reached To(const Goal& goal, const char* settings, uint64_t seed) {
  static const train::Split data = Got(train::MakeDataset("drawn", {"", 0}));
  return Got(SamplesTo(goal, data, Reference(),
                       {"momentum", "pytorch", settings}, seed));
}

// Kills: samples of steps that are not taken; a test that comes late; an order
// that the seed does not give.
TEST(SamplesToTest, CountsUntilTheFirstTestThatIsGoodEnough) {
  const Goal goal{.model = "mlp", .accuracy = 0.9, .batch = 32, .every = 3};
  const Reached once = To(goal, "rate=0.01", 7);
  EXPECT_TRUE(once.is_reached);
  EXPECT_GE(once.accuracy, 0.9);
  EXPECT_EQ(once.samples % (3 * 32), 0);
  const Reached again = To(goal, "rate=0.01", 7);
  EXPECT_EQ(again.samples, once.samples);
  EXPECT_EQ(again.accuracy, once.accuracy);
  // With other numbers of samples between two tests the result is one of them.
  Goal often = goal;
  often.every = 1;
  const Reached sooner = To(often, "rate=0.01", 7);
  EXPECT_LE(sooner.samples, once.samples);
  EXPECT_GT(sooner.samples, once.samples - 3 * 32);
  EXPECT_GT(To(goal, "rate=0.001", 7).samples, once.samples);
}

// Kills: an epoch that has some samples twice.
TEST(SamplesToTest, GivesUpBehindTheLastEpoch) {
  const train::Split data = Got(train::MakeDataset("drawn", {"", 0}));
  const Goal goal{.model = "mlp", .accuracy = 1, .most_epochs = 2};
  const Reached reached = To(goal, "rate=1e-9", 1);
  EXPECT_FALSE(reached.is_reached);
  EXPECT_EQ(reached.samples, 2 * data.train.samples());
}

SeededRuns Runs(const std::string& run) {
  return {run,
          "digits",
          {.model = "mlp", .accuracy = 0.9},
          {{true, 640, 0.9125}, {false, 80000, 0.25}, {true, 1280, 0.9}}};
}

TEST(RunTableTest, ComesBack) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "convergence.csv";
  const std::vector<SeededRuns> all = {Runs("a:adam/keras:rate=0.1 beta1=0.5"),
                                       Runs("b, c")};
  ASSERT_TRUE(WriteRunTable(path, all).ok());
  const auto read = Got(ReadRunTable(path));
  ASSERT_EQ(read.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].run, all[i].run);
    EXPECT_TRUE(CheckComparable(read[i], all[i]).ok());
    EXPECT_THAT(read[i].Samples(), ElementsAre(640, 1280));
    EXPECT_EQ(read[i].seeds[1].accuracy, 0.25);
  }
}

TEST(RunTableTest, SaysWhatIsWrong) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "convergence.csv";
  EXPECT_EQ(ReadRunTable(path).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteRunTable(path, std::vector{Runs("a")}).ok());
  const std::string whole = *file::ReadFile(path);
  const struct {
    std::string text;
    const char* says;
  } rows[] = {
      {"seed,samples\n0,640\n", "found the columns 'seed,samples', wanted"},
      {whole.substr(0, whole.find('\n') + 1), "found no rows"},
      {whole.substr(0, whole.size() - 8), "convergence.csv:4: wanted a row"},
      {whole + "a,mlp,digits,64,10,20,0.9,7,1,1,1\n", ":5: wanted a row of 11"},
      {whole + "a,mlp,digits,64,x,20,0.9,3,1,1,1\n", ":5: wanted a row of 11"},
  };
  for (const auto& row : rows) {
    ASSERT_TRUE(file::WriteFile(path, row.text).ok());
    EXPECT_THAT(ReadRunTable(path), IsStatus(StatusCode::kDataLoss, row.says));
  }
  SeededRuns other = Runs("b");
  other.goal.batch = 32;
  EXPECT_THAT(CheckComparable(Runs("a"), other),
              Says("b: found mlp on digits in batches of 32 to 0.9"));
}

}  // namespace
}  // namespace assay::converge
