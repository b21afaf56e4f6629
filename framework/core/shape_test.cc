// SPDX-License-Identifier: Apache-2.0

#include "framework/core/shape.h"

#include <gtest/gtest.h>

namespace assay::core {
namespace {

TEST(Shape, CountsElementsWithACheck) {
  struct Row {
    Shape shape;
    StatusCode code;
    int64_t count;
  };
  const int64_t huge = int64_t{1} << 32;
  const Row rows[] = {
      {{}, StatusCode::kOk, 1},
      {{2, 3, 4}, StatusCode::kOk, 24},
      {{0}, StatusCode::kOk, 0},
      {{huge, huge, 0}, StatusCode::kOk, 0},
      {{huge, huge}, StatusCode::kResourceExhausted, 0},
      {{2, -1}, StatusCode::kInvalidArgument, 0},
      {{0, -1}, StatusCode::kInvalidArgument, 0},
  };
  for (const Row& row : rows) {
    const Result<int64_t> count = row.shape.NumElements();
    EXPECT_EQ(count.status().code(), row.code) << row.shape.ToString();
    if (!count.ok()) continue;
    EXPECT_EQ(*count, row.count) << row.shape.ToString();
  }
}

TEST(Shape, PrintsItsExtents) {
  EXPECT_EQ(Shape().ToString(), "[]");
  EXPECT_EQ(Shape({2}).ToString(), "[2]");
  EXPECT_EQ(Shape({2, 0, -1}).ToString(), "[2,0,-1]");
}

}  // namespace
}  // namespace assay::core
