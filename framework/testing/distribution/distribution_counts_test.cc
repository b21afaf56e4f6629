// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution_counts.h"

#include <functional>
#include <random>
#include <set>
#include <utility>

#include "framework/core/text.h"
#include "framework/testing/support/drawn_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::distribution {
namespace {

using Kind = CountTest::Kind;
using testing::HasSubstr;
using testing::MatchesRegex;

// Wanted: sums of exact fractions.
TEST(UpperTailTest, IsTheSumOfTheBinomialLaw) {
  const struct {
    int64_t hits, trials;
    double p, tail;
  } rows[] = {
      {8, 10, 0.5, 0.0546875},
      {10, 10, 0.5, 0.0009765625},
      {40, 100, 0.25, 0.0006865922079629911},
      {600, 1000, 0.5, 1.3642320780330092e-10},
      {5250, 10000, 0.5, 3.0034566725177034e-07},
      {3, 1000, 0x1p-20, 1.4402415862815883e-10},
      // Nothing is said of what is not above the mean.
      {5, 10, 0.5, 1},
      {0, 10, 0, 1},
      {10, 10, 1, 1},
      {1, 10, 0, 0},
  };
  for (const auto& row : rows) {
    EXPECT_NEAR(UpperTail(row.hits, row.trials, row.p), row.tail,
                1e-9 * row.tail)
        << row.hits << " of " << row.trials << " at " << row.p;
  }
}

TEST(PValueTest, LooksAtBothSidesAndAtTheKinderBound) {
  const Chance half{0.5, 0.5};
  EXPECT_NEAR(PValue(8, 10, half), 2 * 0.0546875, 1e-12);
  EXPECT_NEAR(PValue(2, 10, half), 2 * 0.0546875, 1e-12);
  EXPECT_EQ(PValue(5, 10, half), 1);
  EXPECT_EQ(PValue(8, 10, {0.5, 0.8}), 1);
  EXPECT_EQ(PValue(2, 10, {0.2, 0.5}), 1);
  EXPECT_EQ(PValue(0, 10, {0, 0}), 1);
  EXPECT_EQ(PValue(1, 10, {0, 0}), 0);
  EXPECT_EQ(PValue(9, 10, {1, 1}), 0);
}

using Draw = std::vector<uint8_t>;
/// Draw number t.
using Generator = std::function<Draw(int t, std::mt19937_64&)>;

std::vector<CountTest> TestsOf(const std::vector<double>& p, int draws,
                               uint64_t seed, const Generator& generate) {
  std::vector<Chance> chances;
  for (const double one : p) chances.push_back({one, one});
  DrawCounts counts(chances);
  std::mt19937_64 engine(seed);
  for (int t = 0; t < draws; ++t) counts.Add(generate(t, engine));
  return counts.Tests();
}

Generator Independent(const std::vector<double>& p) {
  return [p](int, std::mt19937_64& engine) {
    Draw draw;
    for (const double one : p) draw.push_back(Uniform(engine) < one ? 1 : 0);
    return draw;
  };
}

const std::vector<double> kChances = {0.5, 0.1, 0.9, 0, 1, 0.75, 0.5, 0.3};

// Each row is a generator whose shares are right; what is wrong is said.
TEST(DrawCountsTest, EveryDependenceIsFoundByItsCount) {
  const Generator fair = Independent(kChances);
  Draw last;
  std::vector<Draw> stored;
  const struct {
    const char* what;
    std::set<Kind> killers;
    Generator generate;
  } rows[] = {
      {"the last probability is 0.05 greater",
       {Kind::kShare},
       [&](int, std::mt19937_64& engine) {
         Draw draw;
         for (const double p : kChances) {
           draw.push_back(Uniform(engine) < (p == 0.3 ? 0.35 : p) ? 1 : 0);
         }
         return draw;
       }},
      {"one number for all elements",
       {Kind::kPair},
       [&](int, std::mt19937_64& engine) {
         const double u = Uniform(engine);
         Draw draw;
         for (const double p : kChances) draw.push_back(u < p ? 1 : 0);
         return draw;
       }},
      {"one of two elements is the converse of the other",
       {Kind::kPair},
       [&](int t, std::mt19937_64& engine) {
         Draw draw = fair(t, engine);
         draw[6] = 1 - draw[0];
         return draw;
       }},
      {"each draw is given twice",
       {Kind::kRepeat, Kind::kWhole},
       [&](int t, std::mt19937_64& engine) {
         if (t % 2 == 0) last = fair(t, engine);
         return last;
       }},
      {"the second half repeats the first",
       {Kind::kRepeat, Kind::kWhole},
       [&](int t, std::mt19937_64& engine) {
         if (t < 5000) stored.push_back(fair(t, engine));
         return stored[static_cast<size_t>(t % 5000)];
       }},
      {"a certain element is once another",
       {Kind::kShare},
       [&](int t, std::mt19937_64& engine) {
         Draw draw = fair(t, engine);
         if (t == 77) draw[3] = 1;
         return draw;
       }},
  };
  for (const auto& row : rows) {
    const auto tests = TestsOf(kChances, 10000, 1, row.generate);
    const CountTest& worst = Unlikeliest(tests);
    EXPECT_LT(worst.p_value * static_cast<double>(tests.size()), 1e-9)
        << row.what << ": " << worst.Describe();
    EXPECT_TRUE(row.killers.contains(worst.kind))
        << row.what << ": " << worst.Describe();
  }
}

// With thresholds far looser than those that verdicts use, alarms are seen, and
// are no more frequent than is said: of 400 runs at 5 %, 20 or fewer are the
// mean, and 44 or more have a probability below 1e-6.
TEST(DrawCountsTest, FalseAlarmsAreNoMoreFrequentThanStated) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const auto tests = TestsOf(kChances, 400, seed, Independent(kChances));
    const double p_value =
        Unlikeliest(tests).p_value * static_cast<double>(tests.size());
    alarms += p_value < 0.05 ? 1 : 0;
  }
  EXPECT_GT(alarms, 0);
  EXPECT_LT(alarms, 44);
}

// Kills: a count of the wrong draws, or held against the wrong chance.
TEST(DrawCountsTest, CountsOfAFewDrawsAreAsByHand) {
  DrawCounts counts({{0.5, 0.5}, {0.25, 0.75}, {1, 1}});
  for (const char* draw : {"101", "011", "111", "011", "101"}) {
    counts.Add(Draw{uint8_t(draw[0] - '0'), uint8_t(draw[1] - '0'), 1});
  }
  std::string text;
  for (const CountTest& test : counts.Tests()) {
    text +=
        StrCat(test.element, " ", test.other, ": ", test.hits, "/", test.trials,
               ", ", test.chance.least, " to ", test.chance.most, "\n");
  }
  EXPECT_EQ(text,
            "0 -1: 3/5, 0.5 to 0.5\n1 -1: 3/5, 0.25 to 0.75\n"
            "2 -1: 5/5, 1 to 1\n0 1: 1/5, 0.5 to 0.5\n"
            "0 1: 0/2, 0.5 to 0.5\n1 1: 1/2, 0.375 to 0.625\n"
            "-1 1: 0/2, 0.1875 to 0.3125\n"
            "0 2: 2/2, 0.5 to 0.5\n1 2: 1/2, 0.375 to 0.625\n"
            "-1 2: 1/2, 0.1875 to 0.3125\n");
  EXPECT_EQ(counts.Tests().front().p_value, 1);
}

TEST(DrawCountsTest, FarElementsOfLargeOutputsAreWatched) {
  const std::vector<double> p(1000, 0.5);
  const Generator fair = Independent(p);
  const auto tests = TestsOf(p, 2000, 3, [&](int t, std::mt19937_64& engine) {
    Draw draw = fair(t, engine);
    for (size_t i = 500; i < 1000; ++i) draw[i] = draw[i - 500];
    return draw;
  });
  const CountTest& worst = Unlikeliest(tests);
  EXPECT_EQ(worst.kind, Kind::kPair) << worst.Describe();
  EXPECT_EQ(worst.hits, worst.trials);
  // 1000 shares, 64 * 63 / 2 pairs, 64 repeats and a whole at two distances.
  ASSERT_EQ(tests.size(), 1000U + 2016U + 2 * 65U);
  for (int64_t k = 0; k < 64; ++k) {
    const CountTest& repeat = tests[1000 + 2016 + static_cast<size_t>(k)];
    EXPECT_EQ(repeat.element, k < 32 ? k : 32 + (k - 32) * 968 / 32);
  }
}

// Kills: whole draws held against each other in the watched elements alone.
TEST(DrawCountsTest, WholeDrawsDifferWhereAnElementDoesThatIsNotWatched) {
  const auto tests = TestsOf(std::vector<double>(100, 0.5), 10, 1,
                             [](int t, std::mt19937_64&) {
                               Draw draw(100, 0);
                               draw[33] = t % 2;
                               return draw;
                             });
  for (const CountTest& test : tests) {
    if (test.kind == Kind::kShare) continue;
    EXPECT_EQ(test.hits, test.kind == Kind::kWhole ? 0 : test.trials)
        << test.Describe();
  }
}

// Kills: a second distance that is the first again.
TEST(DrawCountsTest, DrawsAreHeldAgainstThoseOfHalfTheDrawsBefore) {
  for (const auto& [draws, before] :
       {std::pair(3, 1), std::pair(4, 2), std::pair(11, 5)}) {
    EXPECT_EQ(TestsOf({0.5}, draws, 1, Independent({0.5})).back().other, before)
        << draws;
  }
}

TEST(CountTestTest, DescriptionsSayWhereAndHowOften) {
  CountTest test{.kind = Kind::kShare,
                 .element = 3,
                 .other = 1,
                 .hits = 6100,
                 .trials = 10000,
                 .chance = {0.5449, 0.5449}};
  EXPECT_EQ(test.Describe(),
            "at 3 on in a share of 0.61 of 10000 draws, wanted 0.5449");
  test.kind = Kind::kPair;
  EXPECT_EQ(test.Describe(),
            "at 3 as at 1 in a share of 0.61 of 10000 draws, wanted 0.5449");
  test.kind = Kind::kRepeat;
  EXPECT_EQ(test.Describe(),
            "at 3 as 1 draws before in a share of 0.61 of 10000 pairs of "
            "draws, wanted 0.5449");
  test.kind = Kind::kWhole;
  EXPECT_THAT(test.Describe(),
              MatchesRegex("all elements as 1 draws before .* pairs of draws,"
                           " wanted 0.5449"));
  test.chance = {0.25, 0.5};
  EXPECT_THAT(test.Describe(), HasSubstr("wanted 0.25 to 0.5"));
}

}  // namespace
}  // namespace assay::distribution
