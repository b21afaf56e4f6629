// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/pairs.h"

#include <gtest/gtest.h>

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
