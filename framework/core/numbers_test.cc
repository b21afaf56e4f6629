// SPDX-License-Identifier: Apache-2.0

#include "framework/core/numbers.h"

#include <gtest/gtest.h>

namespace assay::core {
namespace {

// Kills: a draw of the standard library, which each library makes its own way.
TEST(NumbersTest, AreTheSameOnEveryMachine) {
  Numbers numbers(KeyOf(7, 3));
  EXPECT_EQ(KeyOf(7, 3), 0x953aeb70673e29cbU);
  EXPECT_EQ(numbers.Below(1000), 301U);
  EXPECT_EQ(numbers.Below(1000), 967U);
  EXPECT_EQ(numbers.Share(), 0x1.63aa4cb34474p-3);
}

// Kills: a remainder, which favours the first numbers of a bound that does not
// divide 2^64.
TEST(NumbersTest, EachBelowABoundIsAsLikely) {
  constexpr uint64_t kBound = 0xC000000000000000U;
  constexpr int kDrawn = 3000;
  Numbers numbers(1);
  int low = 0;
  for (int i = 0; i < kDrawn; ++i) {
    if (numbers.Below(kBound) < kBound / 3) ++low;
  }
  // A third each; by a remainder it would be a half. Seven deviations of 26.
  EXPECT_NEAR(low, kDrawn / 3, 180);
}

TEST(NumbersTest, SharesAreInTheirRange) {
  Numbers numbers(2);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double share = numbers.Share();
    ASSERT_TRUE(share >= 0 && share < 1) << share;
    sum += share;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.06);
}

}  // namespace
}  // namespace assay::core
