// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::gradcheck {
namespace {

// Kills: a roundoff that is a whole unit in the last place, or of another type.
TEST(UnitRoundoff, IsHalfAUnitInTheLastPlace) {
  EXPECT_EQ(UnitRoundoff(DType::kFloat16), 0x1p-11);
  EXPECT_EQ(UnitRoundoff(DType::kBFloat16), 0x1p-8);
  EXPECT_EQ(UnitRoundoff(DType::kFloat32), 0x1p-24);
  EXPECT_EQ(UnitRoundoff(DType::kFloat64), 0x1p-53);
}

// Kills: a limit that grows as the depth, or shrinks below that of one rounding,
// and one that is a number where nothing is known.
TEST(LimitOf, GrowsAsTheRootOfTheDepth) {
  struct Row {
    double units, hard, limit;  // limits in roundoffs
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr Row kRows[] = {
      {1, 1, 6},     {1, 0, 6}, {2, 2, 12}, {1, 100, 42},
      {3, 300, 126}, {0, 0, 0}, {0, 5, 0},  {kInfinity, 1, kInfinity},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(LimitOf(row.units, row.hard, 0x1p-24), row.limit * 0x1p-24)
        << row.units << " " << row.hard;
  }
}

}  // namespace
}  // namespace assay::gradcheck
