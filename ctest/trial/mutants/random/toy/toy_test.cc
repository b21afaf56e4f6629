// SPDX-License-Identifier: Apache-2.0
//
// Run by the tool on changed functions, and no test of ours: it does not look
// at what Greatest returns, so that the tool has a survivor to report.

#include "ctest/trial/mutants/random/toy/toy.h"

#include <gtest/gtest.h>

namespace assay_toy {
namespace {

TEST(ToyTest, LeastIsTheSmaller) {
  EXPECT_EQ(Least(1, 2), 1);
  EXPECT_EQ(Least(4, 3), 3);
}

TEST(ToyTest, GreatestIsNotLookedAt) { static_cast<void>(Greatest(1, 2)); }

TEST(ToyTest, StepsAreCounted) { EXPECT_EQ(StepsToZero(3), 3); }

TEST(ToyTest, TwiceIsTheSum) { EXPECT_EQ(Twice(3), 6); }

}  // namespace
}  // namespace assay_toy
