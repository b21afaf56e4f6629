// SPDX-License-Identifier: Apache-2.0
#include "framework/kernels/reshape.h"

#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

using Entries = std::vector<int64_t>;

/// "[2,3]", or "refused".
std::string Text(const Result<Shape>& shape) {
  if (shape.ok()) return shape->ToString();
  EXPECT_EQ(shape.status().code(), StatusCode::kInvalidArgument);
  return "refused";
}

struct ReshapeRow {
  Shape x;
  Entries entries;
  std::string want;
};

TEST(Reshape, CopiesZerosAndFillsOneOpenExtent) {
  const ReshapeRow rows[] = {
      {{2, 3, 4}, {4, 2, 3}, "[4,2,3]"},
      {{2, 3, 4}, {2, -1, 2}, "[2,6,2]"},
      {{2, 3, 4}, {0, -1}, "[2,12]"},
      {{2, 3, 4}, {-1, 2, 0}, "[3,2,4]"},
      {{2, 3, 4}, {}, "[]"},
      {{2, 3, 4}, {-1, 7}, "refused"},
      {{2, 3, 4}, {-1, -1}, "refused"},
      {{2, 3, 4}, {-2, -1}, "refused"},
      {{2}, {1, 0}, "refused"},
      {{0, 3}, {-1, 0}, "[0,3]"},
      {{0, 3}, {0, -1}, "refused"},
      {{2}, {INT64_MAX, INT64_MAX}, "refused"},
  };
  for (const ReshapeRow& row : rows) {
    EXPECT_EQ(Text(ReshapedShape(row.x, row.entries, false)), row.want)
        << Shape(row.entries).ToString();
  }
  EXPECT_EQ(Text(ReshapedShape({0, 3}, {3, 0}, true)), "[3,0]");
  EXPECT_EQ(Text(ReshapedShape({0, 3}, {-1, 0}, true)), "refused");
}

TEST(Reshape, SqueezeDropsAxesOfOneElement) {
  for (const ReshapeRow& row : {ReshapeRow{{1, 3, 1, 5}, {0}, "[3,1,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {-2, 0}, "[3,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {}, "[1,3,1,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {1}, "refused"},
                                ReshapeRow{{1, 3, 1, 5}, {4}, "refused"}}) {
    EXPECT_EQ(Text(SqueezedShape(row.x, row.entries)), row.want);
  }
  EXPECT_EQ(SqueezedShape({1, 3, 1, 5}).ToString(), "[3,5]");
}

TEST(Reshape, UnsqueezeCountsAxesInTheResult) {
  for (const ReshapeRow& row :
       {ReshapeRow{{3, 4, 5}, {0, 4}, "[1,3,4,5,1]"},
        ReshapeRow{{3, 4, 5}, {-1, 2}, "[3,4,1,5,1]"},
        ReshapeRow{{3, 4, 5}, {4, 0}, "[1,3,4,5,1]"},
        ReshapeRow{{}, {0}, "[1]"}, ReshapeRow{{0}, {0}, "[1,0]"},
        ReshapeRow{{3, 4}, {0, 0}, "refused"},
        ReshapeRow{{3, 4}, {0, -4}, "refused"},
        ReshapeRow{{3, 4}, {3}, "refused"}}) {
    EXPECT_EQ(Text(UnsqueezedShape(row.x, row.entries)), row.want)
        << Shape(row.entries).ToString();
  }
}

TEST(Reshape, FlattenGivesTwoAxes) {
  for (const auto& [axis, want] :
       std::vector<std::pair<int64_t, std::string>>{{0, "[1,120]"},
                                                    {1, "[2,60]"},
                                                    {4, "[120,1]"},
                                                    {-1, "[24,5]"},
                                                    {-4, "[1,120]"},
                                                    {5, "refused"},
                                                    {-5, "refused"}}) {
    EXPECT_EQ(Text(FlattenedShape({2, 3, 4, 5}, axis)), want) << axis;
  }
  EXPECT_EQ(Text(FlattenedShape({}, 0)), "[1,1]");
}

}  // namespace
}  // namespace assay::kernels
