// SPDX-License-Identifier: Apache-2.0
#include "framework/kernels/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Axis, NegativeOnesCountFromTheEnd) {
  struct Row {
    int64_t axis;
    int rank;
    int want;  // -1: refused
  };
  for (const Row& row :
       {Row{0, 3, 0}, Row{2, 3, 2}, Row{-1, 3, 2}, Row{-3, 3, 0}, Row{3, 3, -1},
        Row{-4, 3, -1}, Row{0, 0, -1}, Row{-1, 0, -1}, Row{INT64_MIN, 3, -1}}) {
    const Result<int> axis = NormalizeAxis(row.axis, row.rank);
    EXPECT_EQ(axis.ok() ? *axis : -1, row.want) << row.axis;
  }
}

TEST(Axis, AListNamesEachAxisOnce) {
  const int64_t axes[] = {-1, 0, 2};
  EXPECT_THAT(*ListedAxes(axes, 3), ElementsAre(true, false, true));
  EXPECT_FALSE(ListedAxes(axes, 2).ok());
}

TEST(Axis, ProductsAndStridesAreThoseOfRowMajorTensors) {
  EXPECT_EQ(Product(std::vector<int64_t>{2, 3, 4}), 24);
  EXPECT_EQ(Product(std::vector<int64_t>{2, 3, 4}, 1, 3), 12);
  EXPECT_EQ(Product({}), 1);
  EXPECT_THAT(RowMajorStrides(std::vector<int64_t>{2, 3, 4}),
              ElementsAre(12, 4, 1));
  EXPECT_THAT(RowMajorStrides(std::vector<int64_t>{2, 0, 4}),
              ElementsAre(4, 4, 1));
  EXPECT_THAT(RowMajorStrides({}), IsEmpty());
}

}  // namespace
}  // namespace assay::kernels
