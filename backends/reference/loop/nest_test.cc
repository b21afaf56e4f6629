// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

struct NestRow {
  const char* name;
  Shape extents;
  Strides first;
  Strides second;
  int rows;  // how many the innermost loops are
};

const std::vector<NestRow> kNestRows = {
    {"Scalar", {}, {}, {}, 1},
    {"DenseIsOneRow", {2, 3, 4}, {12, 4, 1}, {12, 4, 1}, 1},
    {"BroadcastInside", {2, 3}, {1, 0}, {3, 1}, 2},
    {"BroadcastOutside", {2, 3, 4}, {0, 4, 1}, {12, 4, 1}, 2},
    {"OnlyOneOperandIsDense", {2, 3}, {3, 1}, {1, 2}, 2},
    {"ExtentsOfOneDoNotSplit", {2, 1, 3, 1}, {3, 7, 1, 9}, {3, 3, 1, 1}, 1},
    {"Backwards", {3, 2}, {2, 1}, {-2, -1}, 1},
    {"Empty", {2, 0, 3}, {0, 3, 1}, {0, 3, 1}, 0},
    {"EmptyInside", {2, 0}, {5, 1}, {5, 1}, 0},
};

// The definition: every index in row-major order.
Pairs Visit(const NestRow& row) {
  Pairs visited;
  const int64_t count = *row.extents.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    std::pair<int64_t, int64_t> at = {0, 0};
    int64_t rest = i;
    for (int axis = row.extents.rank() - 1; axis >= 0; --axis) {
      const int64_t index = rest % row.extents[axis];
      rest /= row.extents[axis];
      at.first += index * row.first[static_cast<size_t>(axis)];
      at.second += index * row.second[static_cast<size_t>(axis)];
    }
    visited.push_back(at);
  }
  return visited;
}

TEST(Nest, VisitsEveryIndexOnceInFewRows) {
  for (const NestRow& row : kNestRows) {
    Pairs visited;
    int rows = 0;
    Nest<2>(row.extents, {row.first, row.second})
        .ForEachRow([&](const Nest<2>::Row& line) {
          ++rows;
          for (int64_t i = 0; i < line.count; ++i) {
            visited.emplace_back(line.at[0] + i * line.step[0],
                                 line.at[1] + i * line.step[1]);
          }
        });
    EXPECT_EQ(visited, Visit(row)) << row.name;
    EXPECT_EQ(rows, row.rows) << row.name;
  }
}

TEST(Nest, StartsWhereItIsTold) {
  std::vector<int64_t> visited;
  Nest<1>({2, 2}, {Strides{-4, 1}})
      .ForEachRow(
          [&](const Nest<1>::Row& row) {
            for (int64_t i = 0; i < row.count; ++i) {
              visited.push_back(row.at[0] + i * row.step[0]);
            }
          },
          {10});
  EXPECT_THAT(visited, ElementsAre(10, 11, 6, 7));
}

TEST(Shapes, Broadcast) {
  struct Case {
    Shape a, b, wanted;
  };
  for (const Case& row : {Case{{2, 1}, {3}, {2, 3}}, Case{{}, {2}, {2}},
                          Case{{0, 3}, {1, 3}, {0, 3}}, Case{{}, {}, {}}}) {
    EXPECT_EQ(*Broadcast(row.a, row.b), row.wanted);
    EXPECT_EQ(*Broadcast(row.b, row.a), row.wanted);
  }
  EXPECT_THAT(Broadcast({2}, {3}).status().message(),
              HasSubstr("[2] and [3] do not broadcast: 2 against 3"));
  EXPECT_EQ(Broadcast({0}, {2}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(BroadcastStrides({3, 1}, {2, 3, 4}), ElementsAre(0, 1, 0));
}

TEST(Shapes, AxesCountFromBothEnds) {
  EXPECT_EQ(*NormalizeAxis(-3, 3), 0);
  EXPECT_EQ(*NormalizeAxis(2, 3), 2);
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, INT64_MIN}) {
    EXPECT_EQ(NormalizeAxis(axis, 3).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Shapes, LinesAlongAnAxisAreApartByWhatIsInside) {
  const Result<AxisView> view = AxisView::Of({2, 3, 2}, -2);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->count, 3);
  EXPECT_EQ(view->inner, 2);
  std::vector<int64_t> starts;
  view->ForEachLine([&](int64_t start) { starts.push_back(start); });
  EXPECT_THAT(starts, ElementsAre(0, 1, 6, 7));
}

}  // namespace
}  // namespace assay::reference
