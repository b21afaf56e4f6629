// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "framework/timing/drawn_times_fixture.h"
#include "framework/timing/pairs.h"

namespace assay::timing {
namespace {

/// The share of all choices of signs whose sum of signed ranks is as far from 0
/// as that of the differences: the definition, by enumeration.
double Enumerated(const std::vector<double>& differences) {
  std::vector<double> ranks;
  for (const double d : differences) {
    double rank = 0.5;  // half of itself, so that ties share
    for (const double other : differences) {
      if (std::abs(other) < std::abs(d)) rank += 1;
      if (std::abs(other) == std::abs(d)) rank += 0.5;
    }
    ranks.push_back(d == 0 ? 0 : rank);
  }
  const auto sum_of = [&](const std::function<bool(size_t)>& is_positive) {
    double sum = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
      sum += is_positive(i) ? ranks[i] : -ranks[i];
    }
    return std::abs(sum);
  };
  const double found = sum_of([&](size_t i) { return differences[i] > 0; });
  const size_t choices = size_t{1} << ranks.size();
  size_t as_far = 0;
  for (size_t choice = 0; choice < choices; ++choice) {
    if (sum_of([&](size_t i) { return (choice >> i & 1) != 0; }) >= found) {
      ++as_far;
    }
  }
  return static_cast<double>(as_far) / static_cast<double>(choices);
}

// Kills: ranks that ignore sizes, ties that are ranked by place, zeros that are
// left out or take a side, and one tail in place of two.
TEST(SignFlipP, IsThatOfAllSigns) {
  const std::vector<std::vector<double>> kRows = {
      {1},
      {-2, 1},
      {1, 2, 3, 4, 5, 6},
      {-1, -2, -3, -4, -5, -6, -7},
      {3, -1, 4, 1.5, -5, 9, 2, 6},
      {1, 1, -1, 2, 2, -2, 2},
      {0, 0, 1, -2, 3, 4},
      {0, 5, 5, -1, 0, 5, 2, -2, 7, 8},
  };
  for (const std::vector<double>& row : kRows) {
    EXPECT_NEAR(SignFlipP(row), Enumerated(row), 1e-12) << row.size();
  }
  EXPECT_EQ(SignFlipP(std::vector<double>(4)), 1);
}

// Kills: a law of ranks that agrees with an enumeration that is wrong alike.
TEST(SignFlipP, IsThatOfAPublishedExample) {
  // Depression before and after therapy: M. Hollander and D. Wolfe,
  // Nonparametric Statistical Methods, 1973. R's wilcox.test(x, y, paired =
  // TRUE, alternative = "greater") says V = 40, p = 0.01953.
  constexpr double kBefore[] = {1.83, 0.50, 1.62, 2.48, 1.68,
                                1.88, 1.55, 3.06, 1.30};
  constexpr double kAfter[] = {0.878, 0.647, 0.598, 2.05, 1.06,
                               1.29,  1.06,  3.14,  1.29};
  std::vector<double> differences;
  for (size_t i = 0; i < 9; ++i) differences.push_back(kBefore[i] - kAfter[i]);
  EXPECT_DOUBLE_EQ(SignFlipP(differences), 2 * 10 / 512.0);
  // With conf.int = TRUE: 0.46, 95 percent 0.010 to 0.786.
  const Comparison c = Compare(differences);
  EXPECT_NEAR(std::log(c.ratio), 0.46, 1e-12);
  EXPECT_NEAR(std::log(c.interval->low), 0.010, 1e-12);
  EXPECT_NEAR(std::log(c.interval->high), 0.786, 1e-12);
}

// Kills: another law where there are too many for the exact one.
TEST(Compare, HasANormalLawForMany) {
  const auto width_of = [](size_t n) {
    core::Numbers numbers(n);
    std::vector<double> logs(n);
    for (double& log : logs) log = Normal(numbers);
    const Comparison c = Compare(logs);
    return (std::log(c.interval->high) - std::log(c.interval->low)) *
           std::sqrt(static_cast<double>(n));
  };
  // Twice 1.96 over the root of the efficiency of ranks, 3 / pi.
  EXPECT_NEAR(width_of(300), 4.01, 0.6);
  EXPECT_NEAR(width_of(301), 4.01, 0.6);
}

// Kills: a normal law for few, and one of another deviation for many.
TEST(SignFlipP, IsExactForFewAndCloseForMany) {
  const auto p_of = [](size_t n) {
    std::vector<double> differences;
    for (size_t i = 0; i < n; ++i) {
      const auto size = static_cast<double>(i + 1);
      differences.push_back(i % 16 < 9 ? size : -size);
    }
    return SignFlipP(differences);
  };
  // The exact values by whole numbers of any length.
  EXPECT_NEAR(p_of(300), 0.05341547219304075, 1e-12);
  EXPECT_NEAR(p_of(400), 0.0678400008837938, 1e-4);
  EXPECT_NE(p_of(400), 0.0678400008837938);
}

// Kills: values in the order of their size, that do not rise with p, above 1,
// or of another family.
TEST(BenjaminiHochberg, IsThatOfItsPaper) {
  // Thrombolysis, section 4.1 of the paper: at 5 % the first four are found.
  const std::vector<double> p = {0.0344, 0.0001, 0.0278, 1,      0.0459,
                                 0.0095, 0.0201, 0.4262, 0.0004, 0.6528,
                                 0.3240, 0.0298, 0.7590, 0.0019, 0.5719};
  // R's p.adjust(p, "BH").
  const std::vector<double> want = {0.0645,
                                    0.0015,
                                    0.0298 * 15 / 7,
                                    1,
                                    0.0765,
                                    0.0095 * 15 / 4,
                                    0.0603,
                                    0.4262 * 15 / 11,
                                    0.003,
                                    0.6528 * 15 / 13,
                                    0.486,
                                    0.0298 * 15 / 7,
                                    0.7590 * 15 / 14,
                                    0.0095,
                                    0.5719 * 15 / 12};
  const std::vector<double> q = BenjaminiHochberg(p);
  ASSERT_EQ(q.size(), want.size());
  for (size_t i = 0; i < q.size(); ++i) {
    EXPECT_NEAR(q[i], want[i], 1e-12) << p[i];
  }
  EXPECT_EQ(std::ranges::count_if(q, [](double x) { return x <= 0.05; }), 4);
  EXPECT_TRUE(BenjaminiHochberg({}).empty());
}

// Kills: a ratio or an interval in logarithms, or of base over candidate.
TEST(Compare, SaysRatioAndInterval) {
  const std::vector<double> logs = {0.5, -0.25, 0.125, 0.75, 0.25, 1, 0.375};
  const Comparison c = Compare(logs);
  EXPECT_EQ(c.units, 7);
  // The 14th and 15th, the 3rd and the 26th of 28 means; at 2 of 28 the signed
  // ranks of seven have a chance of 3/128 to each side.
  EXPECT_DOUBLE_EQ(c.ratio, std::exp(0.375));
  ASSERT_TRUE(c.interval);
  EXPECT_DOUBLE_EQ(c.interval->low, std::exp(0.0));
  EXPECT_DOUBLE_EQ(c.interval->high, std::exp(0.75));
  EXPECT_DOUBLE_EQ(c.p_value, SignFlipP(logs));
  EXPECT_DOUBLE_EQ(c.lag1, LagOne(logs));
  EXPECT_EQ(Compare(std::vector<double>(5, 1)).interval, std::nullopt);
}

// Kills: a verdict without a second set, or by one that says otherwise; one
// that the interval, the margin or the family does not bear out; and a same for
// want of evidence.
TEST(VerdictOf, SaysNoMoreThanTheBlocksDo) {
  const auto found = [](double low, double high, double p = 1e-6) {
    return Comparison{.units = 100,
                      .ratio = std::sqrt(low * high),
                      .interval = Interval{low, high},
                      .p_value = p};
  };
  const Comparison slow = found(1.04, 1.06);
  const Comparison fast = found(0.90, 0.95);
  const struct {
    std::string name;
    Comparison first;
    double q;
    std::optional<Comparison> second;
    Verdict want;
  } kRows[] = {
      {"slower twice", slow, 1e-4, found(1.031, 1.2), Verdict::kWorse},
      {"faster twice", fast, 1e-4, found(0.8, 0.97), Verdict::kBetter},
      {"slower once", slow, 1e-4, {}, Verdict::kUnsure},
      {"faster once", fast, 1e-4, {}, Verdict::kUnsure},
      {"slower, then not", slow, 1e-4, found(1.02, 1.06), Verdict::kUnsure},
      {"slower, then the same", slow, 1e-4, found(1, 1), Verdict::kUnsure},
      {"slower, then faster", slow, 1e-4, fast, Verdict::kUnsure},
      {"one of many", slow, 0.06, slow, Verdict::kUnsure},
      {"slower, then by chance", slow, 1e-4, found(1.04, 1.2, 0.2),
       Verdict::kUnsure},
      {"slower within the margin", found(1.01, 1.03), 1e-9, {}, Verdict::kSame},
      {"across the margin", found(1.02, 1.04), 1e-9, slow, Verdict::kUnsure},
      {"across the lower one", found(0.96, 1), 1e-9, fast, Verdict::kUnsure},
      {"faster within the margin", found(0.971, 1), 1e-9, {}, Verdict::kSame},
      {"anything", found(0.5, 2), 1, {}, Verdict::kUnsure},
      {"few blocks", Compare(std::vector<double>(5)), 1, {}, Verdict::kUnsure},
      {"few blocks, slow", Compare(std::vector<double>(5, 1)), 0, slow,
       Verdict::kUnsure},
      {"then few", slow, 1e-4, Compare(std::vector<double>(5, 1)),
       Verdict::kUnsure},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(VerdictOf(row.first, row.q, row.second, {}), row.want)
        << row.name;
  }
  EXPECT_TRUE(IsApart(slow, 0.05, {}));
  EXPECT_TRUE(IsApart(fast, 0.05, {}));
  EXPECT_FALSE(IsApart(slow, 0.051, {}));
  EXPECT_FALSE(IsApart(slow, 0.05, {.margin = 0.04}));
}

TEST(Verdict, HasTheWordsOfTheTable) {
  EXPECT_EQ(ToString(Verdict::kSame), "same");
  EXPECT_EQ(ToString(Verdict::kBetter), "better");
  EXPECT_EQ(ToString(Verdict::kWorse), "worse");
  EXPECT_EQ(ToString(Verdict::kUnsure), "unsure");
}

/// Times of a machine, four a block: drawn, and then told to two sides.
using Machine = std::function<std::vector<double>(size_t n, core::Numbers&)>;

/// Independent, with a deviation of 2 %; one in 20 takes half as long again.
std::vector<double> Struck(size_t n, core::Numbers& numbers) {
  std::vector<double> times = SkewedTimes(n, 0.02, numbers);
  for (double& time : times) time *= numbers.Below(20) == 0 ? 1.5 : 1;
  return times;
}

/// Hardly anything changes from one time to the next.
std::vector<double> Drifting(size_t n, core::Numbers& numbers) {
  return CorrelatedTimes(n, 0.1, 0.99, numbers);
}

/// A disturbance of one time disturbs the next one too.
std::vector<double> Lasting(size_t n, core::Numbers& numbers) {
  const std::vector<double> steps = SkewedTimes(n + 1, 0.02, numbers);
  std::vector<double> times;
  for (size_t i = 0; i < n; ++i) times.push_back(steps[i] * steps[i + 1]);
  return times;
}

/// Blocks on the machine, with a candidate that takes `slowdown` times as long.
std::vector<Block> BlocksOn(const Machine& machine, size_t n, double slowdown,
                            uint64_t seed) {
  core::Numbers numbers(seed);
  AbbaOrder order(core::KeyOf(seed, 1));
  const std::vector<double> times = machine(4 * n, numbers);
  std::vector<Block> blocks;
  for (size_t b = 0; b < n; ++b) {
    Block block = order.Next();
    for (size_t i = 0; i < 4; ++i) {
      const bool is_slow = block.order[i] == Side::kCandidate;
      block.ns[i] = times[4 * b + i] * (is_slow ? slowdown : 1);
    }
    blocks.push_back(block);
  }
  return blocks;
}

Comparison CompareOn(const Machine& machine, double slowdown, uint64_t seed,
                     size_t blocks = 31) {
  return Compare(*LogRatios(BlocksOn(machine, blocks, slowdown, seed)));
}

constexpr struct {
  const char* name;
  std::vector<double> (*machine)(size_t, core::Numbers&);
} kMachines[] = {
    {"struck", Struck}, {"drifting", Drifting}, {"lasting", Lasting}};

// Kills: pairs, or times, as units, which hang together: on a machine whose
// disturbances last, their false alarms are twice those that are said.
TEST(CompareTest, RaisesAsManyFalseAlarmsAsItSays) {
  constexpr uint64_t kDraws = 2'000;
  for (const auto& row : kMachines) {
    double outside = 0;
    double low_p = 0;
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      const Comparison c = CompareOn(row.machine, 1, seed);
      if (c.interval->low > 1 || c.interval->high < 1) ++outside;
      if (c.p_value <= 0.05) ++low_p;
    }
    EXPECT_NEAR(outside / kDraws, 0.05, 0.0195) << row.name;  // 4 deviations
    EXPECT_NEAR(low_p / kDraws, 0.05, 0.0195) << row.name;
  }
}

/// Groups of blocks on the machine, of two that are the same. The side that is
/// bound first has memory that makes it slower or faster for a whole group.
std::vector<std::vector<Block>> GroupsOn(const Machine& machine,
                                         uint64_t seed) {
  constexpr size_t kGroups = 20;
  constexpr size_t kBlocks = 4;
  core::Numbers numbers(core::KeyOf(seed, 2));
  std::vector<std::vector<Block>> groups;
  for (size_t g = 0; g < kGroups; ++g) {
    const double bias = std::exp(0.04 * Normal(numbers) + 0.02);
    const Side first = numbers.Below(2) == 0 ? Side::kBase : Side::kCandidate;
    groups.push_back(BlocksOn(machine, kBlocks, 1, kGroups * seed + g));
    for (Block& block : groups.back()) {
      for (size_t i = 0; i < 4; ++i) {
        block.ns[i] *= block.order[i] == first ? bias : 1;
      }
    }
  }
  return groups;
}

// Kills: blocks as units where their groups have something in common.
TEST(CompareTest, RaisesNoMoreWhereMemoryLiesElsewhere) {
  constexpr uint64_t kDraws = 1'000;
  for (const auto& row : kMachines) {
    double outside = 0;
    double low_p = 0;
    double of_blocks = 0;
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      const auto groups = GroupsOn(row.machine, seed);
      const Comparison c = Compare(*GroupLogRatios(groups));
      if (c.interval->low > 1 || c.interval->high < 1) ++outside;
      if (c.p_value <= 0.05) ++low_p;
      if (seed % 20 != 0) continue;
      std::vector<double> blocks;
      for (const auto& group : groups) {
        const std::vector<double> some = *LogRatios(group);
        blocks.insert(blocks.end(), some.begin(), some.end());
      }
      if (SignFlipP(blocks) <= 0.05) ++of_blocks;
    }
    EXPECT_NEAR(outside / kDraws, 0.05, 0.0276) << row.name;
    EXPECT_NEAR(low_p / kDraws, 0.05, 0.0276) << row.name;
    EXPECT_GT(of_blocks / (kDraws / 20.0), 0.15) << row.name;
  }
}

// Kills: a size that the level alone has, which is found every second time, and
// one that few units cannot find.
TEST(LeastSlowdown, IsFoundBeyondTheMargin) {
  constexpr uint64_t kDraws = 2'000;
  constexpr Thresholds kOne = {.margin = 0.01};
  for (const size_t n : {8, 20}) {
    core::Numbers numbers(n);
    const auto drawn = [&](double ratio) {
      std::vector<double> logs(n);
      for (double& log : logs) log = 0.01 * Normal(numbers) + std::log(ratio);
      return Compare(logs);
    };
    double sum = 0;
    for (uint64_t i = 0; i < kDraws; ++i) {
      sum += *LeastSlowdown(drawn(1), kOne.margin);
    }
    double found = 0;
    for (uint64_t i = 0; i < kDraws; ++i) {
      const Comparison c = drawn(sum / kDraws);
      if (IsApart(c, c.p_value, kOne)) ++found;
    }
    EXPECT_NEAR(found / kDraws, 0.95, 0.02) << n;
  }
  EXPECT_EQ(LeastSlowdown({}, 0.01), std::nullopt);
}

// The reason for blocks, told by a comparison that goes wrong.
TEST(CompareTest, WouldRaiseMoreWithPairsAsUnits) {
  constexpr uint64_t kDraws = 1'000;
  double low_p = 0;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    std::vector<double> pairs;
    for (const Block& block : BlocksOn(Lasting, 32, 1, seed)) {
      const double sign = block.order[1] == Side::kCandidate ? 1 : -1;
      pairs.push_back(sign * std::log(block.ns[1] / block.ns[0]));
      pairs.push_back(sign * std::log(block.ns[2] / block.ns[3]));
    }
    if (SignFlipP(pairs) <= 0.05) ++low_p;
  }
  EXPECT_GT(low_p / kDraws, 0.08);
}

/// The share of verdicts among draws of two sets each.
double ShareOf(Verdict verdict, const Machine& machine, double slowdown,
               const Thresholds& thresholds, uint64_t draws = 200,
               size_t blocks = 63) {
  double count = 0;
  for (uint64_t seed = 0; seed < draws; ++seed) {
    const Comparison first = CompareOn(machine, slowdown, 2 * seed, blocks);
    const Comparison second =
        CompareOn(machine, slowdown, 2 * seed + 1, blocks);
    if (VerdictOf(first, first.p_value, second, thresholds) == verdict) ++count;
  }
  return count / static_cast<double>(draws);
}

// Kills: a verdict that misses a slowdown of 3 %, or one of 10 % where the
// margin is 3 %, and a same that is not.
TEST(VerdictOf, FindsASlowdown) {
  constexpr Thresholds kNarrow = {.margin = 0.01};
  EXPECT_GE(ShareOf(Verdict::kWorse, Struck, 1.03, kNarrow), 0.95);
  EXPECT_GE(ShareOf(Verdict::kWorse, Lasting, 1.03, kNarrow), 0.95);
  EXPECT_GE(ShareOf(Verdict::kWorse, Struck, 1.1, {}), 0.99);
  EXPECT_GE(ShareOf(Verdict::kBetter, Struck, 1 / 1.1, {}), 0.99);
  EXPECT_GE(ShareOf(Verdict::kSame, Struck, 1, {}), 0.99);
  EXPECT_EQ(ShareOf(Verdict::kSame, Struck, 1.05, {}), 0);
}

// Kills: a worse that one set alone decides. Without a margin and a family it
// is 0.025^2, or one in 1,600; of 1,000 draws three or more are 1 in 40.
TEST(VerdictOf, RaisesOneFalseAlarmInAThousandAtMost) {
  for (const auto& row : kMachines) {
    EXPECT_LE(
        ShareOf(Verdict::kWorse, row.machine, 1, {.margin = 0}, 1'000, 31),
        0.002)
        << row.name;
  }
}

}  // namespace
}  // namespace assay::timing
