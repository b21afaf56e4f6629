// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/limit.h"

#include <gtest/gtest.h>

#include "framework/testing/support/tensors_fixture.h"

namespace assay::limit {
namespace {

// Kills: a roundoff that is a whole unit in the last place, or of another type.
TEST(UnitRoundoff, IsHalfAUnitInTheLastPlace) {
  EXPECT_EQ(UnitRoundoff(DType::kFloat16), 0x1p-11);
  EXPECT_EQ(UnitRoundoff(DType::kBFloat16), 0x1p-8);
  EXPECT_EQ(UnitRoundoff(DType::kFloat32), 0x1p-24);
  EXPECT_EQ(UnitRoundoff(DType::kFloat64), 0x1p-53);
}

// Kills: a limit that grows as the depth, or shrinks below that of one
// rounding, and one that is a number where nothing is known.
TEST(LimitOf, GrowsAsTheRootOfTheDepth) {
  struct Row {
    double units, hard, limit;  // limits in roundoffs
  };
  constexpr Row kRows[] = {
      {1, 1, 6},     {1, 0, 6}, {2, 2, 12}, {1, 100, 42},
      {3, 300, 126}, {0, 0, 0}, {0, 5, 0},  {kInf, 1, kInf},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(LimitOf(row.units, row.hard, 0x1p-24), row.limit * 0x1p-24)
        << row.units << " " << row.hard;
  }
}

// Kills: sums that are counted in the case's roundoff although they are kept in
// another type, and a last rounding that is counted in the accumulator's.
TEST(LimitOf, CountsSumsInTheRoundoffOfTheirType) {
  struct Row {
    double units, hard, of_sums, limit;
  };
  constexpr double kU16 = 0x1p-11;
  constexpr double kU32 = 0x1p-24;
  constexpr Row kRows[] = {
      {1, 1, kU16, 6 * kU16},
      {1, 100, kU16, 42 * kU16},
      {1, 100, kU32, 40 * kU32 + 2 * kU16},
      {3, 300, kU32, 3 * (40 * kU32 + 2 * kU16)},
      {1, 100, 0, 2 * kU16},
      {0, 5, kU32, 0},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(LimitOf(row.units, row.hard, kU16, row.of_sums), row.limit)
        << row.units << " " << row.hard << " " << row.of_sums;
  }
}

}  // namespace
}  // namespace assay::limit
