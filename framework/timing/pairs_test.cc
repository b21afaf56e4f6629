// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "framework/timing/made_up_clock_fixture.h"

namespace assay::timing {
namespace {

constexpr Side kA = Side::kBase;
constexpr Side kB = Side::kCandidate;
constexpr std::array<Side, 4> kAbba = {kA, kB, kB, kA};
constexpr std::array<Side, 4> kBaab = {kB, kA, kA, kB};

// Kills: an order without chance, with other blocks, or that a seed does not
// repeat.
TEST(AbbaOrder, IsACoinForEachBlock) {
  AbbaOrder order(1);
  AbbaOrder again(1);
  AbbaOrder other(2);
  int64_t abba = 0;
  int64_t turns = 0;
  int64_t differs = 0;
  std::array<Side, 4> last = {};
  for (int block = 0; block < 1000; ++block) {
    const auto next = order.Next().order;
    EXPECT_TRUE(next == kAbba || next == kBaab);
    EXPECT_EQ(next, again.Next().order);
    if (next == kAbba) ++abba;
    if (next != last) ++turns;
    if (next != other.Next().order) ++differs;
    last = next;
  }
  for (const int64_t half : {abba, turns, differs}) {
    EXPECT_NEAR(static_cast<double>(half), 500, 48);  // three deviations
  }
}

/// A candidate that takes 3 % longer than the base, on a machine that gets
/// slower by 1 ns a sample.
class TakePairsTest : public testing::Test {
 protected:
  Result<double> TimeOf(Side side) {
    asked_.push_back(side);
    const double ns = side == kB ? 10'300 : 10'000;
    made_up_.now_ns += ns;
    return ns + static_cast<double>(asked_.size());
  }
  Result<Pairs> Take(uint64_t seed, const std::vector<Criterion>& criteria) {
    return TakePairs([this](Side side) { return TimeOf(side); }, seed,
                     Stopping(criteria), made_up_.AsClock());
  }

  MadeUpClock made_up_;
  std::vector<Side> asked_;
};

// Kills: another order than the seed's, times in another's place, and criteria
// that are asked of something else than the ratios of blocks.
TEST_F(TakePairsTest, TimesBlocksUntilTheRatioIsKnown) {
  const auto pairs = Take(5, {HalfWidth{0.001, 0}, Budget{1'000'000'000}});
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(pairs->stop_reason, StopReason::kHalfWidth);
  ASSERT_EQ(pairs->blocks.size(), 10U);
  ASSERT_EQ(asked_.size(), 40U);
  AbbaOrder order(5);
  for (size_t b = 0; b < pairs->blocks.size(); ++b) {
    const Block& block = pairs->blocks[b];
    EXPECT_EQ(block.order, order.Next().order);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(asked_[4 * b + i], block.order[i]);
      EXPECT_EQ(block.ns[i], (block.order[i] == kB ? 10'300 : 10'000) +
                                 static_cast<double>(4 * b + i + 1));
    }
  }
  const auto log_ratios = LogRatios(pairs->blocks);
  ASSERT_TRUE(log_ratios.ok());
  for (const double log_ratio : *log_ratios) {
    EXPECT_NEAR(log_ratio, std::log(1.03), 2e-4);
  }
}

// Kills: a count of times, a budget of another clock, and a failure that is
// timed.
TEST_F(TakePairsTest, EndsByBudgetCountAndFailure) {
  const auto counted = Take(1, {Count{3}, Budget{1'000'000'000}});
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->blocks.size(), 3U);
  EXPECT_EQ(counted->stop_reason, StopReason::kCount);
  const auto spent = Take(1, {Budget{100'000}});
  ASSERT_TRUE(spent.ok());
  EXPECT_EQ(spent->blocks.size(), 3U);  // of 40,620 ns
  EXPECT_EQ(spent->stop_reason, StopReason::kBudget);
  EXPECT_EQ(Take(1, {Count{3}}).status().code(), StatusCode::kInvalidArgument);
  const Stopping stopping({Budget{1}});
  EXPECT_EQ(TakePairs([](Side) { return Internal("no more"); }, 1, stopping)
                .status()
                .message(),
            "no more");
  EXPECT_EQ(TakePairs([](Side) { return 0.0; }, 1, stopping).status().code(),
            StatusCode::kInvalidArgument);
}

/// Times as those above, behind bindings that take 50 us.
class TakeGroupsTest : public TakePairsTest {
 protected:
  Result<std::vector<std::vector<Block>>> TakeAll(uint64_t seed,
                                                  const GroupLimits& most) {
    const auto bind = [this](Side first) {
      firsts_.push_back(first);
      made_up_.now_ns += 50'000;
      return OkStatus();
    };
    return TakeGroups(
        bind, [this](Side side) { return TimeOf(side); }, seed, most,
        made_up_.AsClock());
  }

  std::vector<Side> firsts_;
};

// Kills: a side that is always bound first, groups whose coins fall alike, and
// blocks that are more or fewer than was asked for.
TEST_F(TakeGroupsTest, BindsAnewBeforeEachGroup) {
  const auto groups =
      TakeAll(3, {.groups = 40, .blocks = 5, .budget_ns = 1'000'000'000});
  ASSERT_TRUE(groups.ok());
  ASSERT_EQ(groups->size(), 40U);
  ASSERT_EQ(firsts_.size(), 40U);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(firsts_, kA)), 20, 12);
  int64_t turns = 0;
  for (const auto& blocks : *groups) {
    EXPECT_EQ(blocks.size(), 5U);
    for (size_t b = 0; b < 5; ++b) {
      if (blocks[b].order != groups->front()[b].order) ++turns;
    }
  }
  EXPECT_NEAR(static_cast<double>(turns), 97, 30);
}

// Kills: a budget of each group, one that bindings are left out of, and a group
// that is bound for less time than its binding took.
TEST_F(TakeGroupsTest, SharesTheTimeThatIsLeft) {
  // A block takes some 40,700 ns, a group of two with its binding 131,500.
  const auto groups =
      TakeAll(1, {.groups = 20, .blocks = 100, .budget_ns = 1'000'000});
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->size(), 8U);
  for (const auto& blocks : *groups) EXPECT_EQ(blocks.size(), 2U);
  const auto long_ones =
      TakeAll(1, {.groups = 2, .blocks = 100, .budget_ns = 1'000'000});
  ASSERT_TRUE(long_ones.ok());
  ASSERT_EQ(long_ones->size(), 2U);
  for (const auto& blocks : *long_ones) {
    EXPECT_NEAR(static_cast<double>(blocks.size()), 11, 1);
  }
  const auto none = TakeAll(1, {.budget_ns = 0});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 1U);
}

TEST_F(TakeGroupsTest, AFailureOfABindingIsReturned) {
  const auto found = TakeGroups([](Side) { return Internal("no memory"); },
                                [](Side) { return 1.0; }, 1, {.budget_ns = 1});
  EXPECT_EQ(found.status().message(), "no memory");
}

// Kills: a mean, which one block that was disturbed moves, and a group's times
// as one block.
TEST(GroupLogRatios, AreTheMediansOfTheirBlocks) {
  const Block twice = {kAbba, {1, 2, 2, 1}};
  const Block same = {kBaab, {1, 1, 1, 1}};
  const Block struck = {kBaab, {100, 1, 1, 1}};
  const std::vector<std::vector<Block>> groups = {
      {twice, same, struck}, {same, twice}, {same}};
  const auto logs = GroupLogRatios(groups);
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(*logs,
              testing::ElementsAre(testing::DoubleEq(std::log(2)),
                                   testing::DoubleEq(std::log(2) / 2), 0.0));
  const std::vector<std::vector<Block>> bad = {{same}, {{kAbba, {0, 1, 1, 1}}}};
  EXPECT_EQ(GroupLogRatios(bad).status().code(), StatusCode::kInvalidArgument);
}

// Kills: a ratio of the wrong sides or of sums, and one that an even drift
// moves.
TEST(LogRatios, AreThoseOfEachBlock) {
  const Block blocks[] = {
      {kAbba, {1, 2, 8, 1}},  // candidate: 4 as a geometric mean
      {kBaab, {2, 1, 1, 8}},  // the same the other way round
      {kAbba, {1, 2, 4, 8}},  // both alike, each twice the one before
      {kBaab, {8, 4, 2, 1}}, {kAbba, {2, 1, 1, 8}},
  };
  const auto logs = LogRatios(blocks);
  ASSERT_TRUE(logs.ok());
  const double four = std::log(4);
  const std::vector<double> want = {four, four, 0, 0, -four};
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR((*logs)[i], want[i], 1e-15) << i;
  }
}

// Kills: a difference of the other sign or of one pair, and a median of the
// other side.
TEST(Differences, AreThoseOfEachBlock) {
  const Block blocks[] = {{kAbba, {10, 13, 15, 12}},
                          {kBaab, {13, 10, 12, 15}},
                          {kBaab, {1, 3, 5, 2}}};
  EXPECT_EQ(Differences(blocks), (std::vector<double>{3, 3, -2.5}));
  EXPECT_EQ(MedianOf(blocks, kA), 10);  // of 3, 5, 10, 10, 12, 12
  EXPECT_EQ(MedianOf(blocks, kB), 13);  // of 1, 2, 13, 13, 15, 15
}

// Kills: times and orders that are wrong, and compared all the same.
TEST(LogRatios, RefuseWhatIsNoBlock) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const struct {
    Block block;
    std::string want;
  } kRows[] = {
      {{kAbba, {1, 0, 1, 1}}, "block 1 has a time of 0 ns, wanted it above 0"},
      {{kAbba, {1, 1, kInf, 1}},
       "block 1 has a time of inf ns, wanted it above 0"},
      {{kAbba, {1, 1, 1, std::nan("")}},
       "block 1 has a time of nan ns, wanted it above 0"},
      {{{kA, kB, kA, kB}, {1, 1, 1, 1}}, "block 1 is neither ABBA nor BAAB"},
      {{{kA, kB, kB, kB}, {1, 1, 1, 1}}, "block 1 is neither ABBA nor BAAB"},
      {{{kA, kA, kA, kA}, {1, 1, 1, 1}}, "block 1 is neither ABBA nor BAAB"},
  };
  for (const auto& row : kRows) {
    const Block blocks[] = {{kBaab, {1, 1, 1, 1}}, row.block};
    const Status status = LogRatios(blocks).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), row.want);
  }
}

}  // namespace
}  // namespace assay::timing
