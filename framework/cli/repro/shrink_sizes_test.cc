// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "framework/cli/repro/shrink_judge.h"

namespace assay::repro {
namespace {

using ::testing::ElementsAre;
using Values = std::vector<int64_t>;

suite::Extent UpTo(const char* what, int64_t least, int64_t most) {
  suite::Extent extent{what, Values(static_cast<size_t>(most - least + 1))};
  std::iota(extent.values.begin(), extent.values.end(), least);
  return extent;
}

SmallestSizes Shrunk(const std::vector<suite::Extent>& extents,
                     const std::function<bool(const Values&)>& fails,
                     int64_t budget = 1000) {
  const auto ask = [&](const Values& values) -> Result<bool> {
    return fails(values);
  };
  return ShrinkSizes(extents, ask, budget).value();
}

// Kills: a descent that stops at the first half that passes; one that takes the
// elements before the ranks; one round alone.
TEST(ShrinkSizesTest, FindsTheLeastRanksAndThenTheLeastElements) {
  const std::vector<suite::Extent> small = {UpTo("ranks", 1, 8),
                                            UpTo("elements", 0, 61)};
  const std::vector<suite::Extent> large = {UpTo("ranks", 1, 61),
                                            UpTo("elements", 0, 1021)};
  const std::vector<suite::Extent> few = {UpTo("ranks", 1, 8),
                                          UpTo("elements", 0, 5)};
  const struct {
    const char* what;
    const std::vector<suite::Extent>& extents;
    std::function<bool(const Values&)> fails;
    Values smallest;
  } rows[] = {
      {"always", large, [](const Values&) { return true; }, {1, 0}},
      {"at 3 ranks and 5 elements or more",
       small,
       [](const Values& v) { return v[0] >= 3 && v[1] >= 5; },
       {3, 5}},
      {"beyond a few of either",
       large,
       [](const Values& v) { return v[0] >= 38 && v[1] >= 777; },
       {38, 777}},
      {"as it is alone",
       large,
       [](const Values& v) {
         return v == Values{61, 1021};
       },
       {61, 1021}},
      {"at ranks that are no power of two",
       small,
       [](const Values& v) { return (v[0] & (v[0] - 1)) != 0 || v[0] == 8; },
       {3, 0}},
      {"where elements do not divide by the ranks",
       small,
       [](const Values& v) { return v[1] % v[0] != 0; },
       {2, 1}},
      {"with fewer elements than ranks",
       few,
       [](const Values& v) { return v[1] < v[0]; },
       {1, 0}},
      {"with many of both together",
       small,
       [](const Values& v) { return v[0] * v[1] >= 100; },
       {2, 50}},
  };
  for (const auto& row : rows) {
    std::set<Values> asked;
    const SmallestSizes found = Shrunk(row.extents, [&](const Values& values) {
      asked.insert(values);
      return row.fails(values);
    });
    EXPECT_EQ(found.values, row.smallest) << row.what;
    EXPECT_TRUE(found.steady) << row.what;
    EXPECT_FALSE(found.spent) << row.what;
    EXPECT_LE(found.asked, MostAsked(row.extents)) << row.what;
    // The last values are asked about twice, and all others once.
    EXPECT_EQ(found.asked, static_cast<int64_t>(asked.size()) + 1) << row.what;
  }
}

TEST(ShrinkSizesTest, TakesNoValuesThatThereAreNot) {
  const std::vector<suite::Extent> powers = {{"ranks", {1, 2, 4, 8, 16}}};
  EXPECT_THAT(Shrunk(powers, [](const Values& v) { return v[0] >= 3; }).values,
              ElementsAre(4));
  EXPECT_THAT(Shrunk(powers, [](const Values& v) { return v[0] > 8; }).values,
              ElementsAre(16));
  const std::vector<suite::Extent> one = {{"ranks", {1}}, {"elements", {0}}};
  const SmallestSizes found = Shrunk(one, [](const Values&) { return true; });
  EXPECT_THAT(found.values, ElementsAre(1, 0));
  EXPECT_EQ(found.asked, 2);
}

// Of values that fail on both sides of some that pass it has one of the sides,
// and the value before it passes.
TEST(ShrinkSizesTest, EndsWhereOneLessPasses) {
  const std::vector<suite::Extent> extents = {UpTo("elements", 0, 100)};
  for (int64_t hole = 5; hole < 100; ++hole) {
    const auto fails = [&](const Values& v) {
      return v[0] >= 4 && v[0] != hole;
    };
    const int64_t found = Shrunk(extents, fails).values[0];
    EXPECT_TRUE(fails({found})) << hole;
    EXPECT_FALSE(fails({found - 1})) << hole;
  }
}

// Kills: a case that fails once and is said to fail; one that passes at its
// smallest.
TEST(ShrinkSizesTest, SaysOfACaseThatItFailsAtTimes) {
  const std::vector<suite::Extent> extents = {UpTo("ranks", 1, 8),
                                              UpTo("elements", 0, 61)};
  const SmallestSizes never =
      Shrunk(extents, [](const Values&) { return false; });
  EXPECT_FALSE(never.steady);
  EXPECT_EQ(never.asked, 1);
  EXPECT_THAT(never.values, ElementsAre(8, 61));
  int times = 0;
  const SmallestSizes once =
      Shrunk(extents, [&](const Values&) { return ++times == 1; });
  EXPECT_FALSE(once.steady);
  EXPECT_GT(once.asked, 1);
  EXPECT_THAT(once.values, ElementsAre(8, 61));
  std::set<Values> before;
  const SmallestSizes first = Shrunk(extents, [&](const Values& values) {
    return before.insert(values).second && values[0] >= 2;
  });
  EXPECT_FALSE(first.steady);
  EXPECT_THAT(first.values, ElementsAre(2, 0));
}

TEST(ShrinkSizesTest, StopsAtItsBudgetAndAtAnError) {
  const std::vector<suite::Extent> extents = {UpTo("ranks", 1, 61),
                                              UpTo("elements", 0, 1021)};
  const SmallestSizes found = Shrunk(
      extents, [](const Values& v) { return v[0] >= 20; }, /*budget=*/7);
  EXPECT_TRUE(found.spent);
  EXPECT_TRUE(found.steady);
  EXPECT_EQ(found.asked, 7);
  // As it is, with 1 to 4 ranks, with the half of all, and that once more.
  EXPECT_THAT(found.values, ElementsAre(32, 1021));
  const auto stopped = ShrinkSizes(
      extents,
      [](const Values&) -> Result<bool> { return Cancelled("stopped"); },
      /*budget=*/7);
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
}

// Kills: another reason, or what is not supported, that is taken for the same
// fail.
TEST(FailsAsTest, TheSameFailHasTheSameOutcomeAndReason) {
  const auto result = [](record::Outcome outcome, const char* reason) {
    record::ResultRow row;
    row.outcome = outcome;
    row.reason_code = reason;
    return row;
  };
  using enum record::Outcome;
  const record::ResultRow wanted = result(kFail, "fail_bits");
  const struct {
    record::Outcome outcome;
    const char* reason;
    bool is_same;
  } rows[] = {
      {kFail, "fail_bits", true},
      {kFail, "fail_cost", false},
      {kFail, "", false},
      {kUnsupported, "operator", false},
      {kUnsupported, "shape", false},
      {kUnsupported, "fail_bits", false},
      {kError, "fail_bits", false},
      {kPass, "", false},
      {kMissing, "fail_bits", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(FailsAs(result(row.outcome, row.reason), wanted), row.is_same)
        << ToString(row.outcome) << " " << row.reason;
  }
}

}  // namespace
}  // namespace assay::repro
