// SPDX-License-Identifier: Apache-2.0

#include "framework/core/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay::core {
namespace {

TEST(Shape, CountsElementsWithACheck) {
  const int64_t huge = int64_t{1} << 32;
  const struct {
    Shape shape;
    StatusCode code;
    int64_t count;
  } rows[] = {
      {{}, StatusCode::kOk, 1},
      {{2, 3, 4}, StatusCode::kOk, 24},
      {{0}, StatusCode::kOk, 0},
      {{huge, huge, 0}, StatusCode::kOk, 0},
      {{huge, huge}, StatusCode::kResourceExhausted, 0},
      {{2, -1}, StatusCode::kInvalidArgument, 0},
      {{0, -1}, StatusCode::kInvalidArgument, 0},
  };
  for (const auto& row : rows) {
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

using Few = InlineVector<int64_t, 3>;

/// The numbers from 0 to below `count`.
Few UpTo(size_t count) {
  Few numbers;
  for (size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<int64_t>(i));
  }
  return numbers;
}

// Each length on both sides of what has room inside.
class InlineVectors : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Lengths, InlineVectors, testing::Range<size_t>(0, 7));

TEST_P(InlineVectors, DoesAsAVectorDoes) {
  for (size_t count = 0; count < 7; ++count) {
    Few few = UpTo(GetParam());
    std::vector<int64_t> wanted = few;
    few.resize(count, 8);
    wanted.resize(count, 8);
    EXPECT_THAT(few, testing::ElementsAreArray(wanted));
    EXPECT_EQ(few.empty(), count == 0);
    for (size_t place = 0; place <= count; ++place) {
      Few more = few;
      more.insert(more.begin() + place, 9);
      std::vector<int64_t> wider = wanted;
      wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(place), 9);
      EXPECT_THAT(more, testing::ElementsAreArray(wider));
      more.erase(more.begin() + place);
      EXPECT_EQ(more, few);
      const Few pair = {5, 6};
      more.insert(more.begin() + place, pair.begin(), pair.end());
      EXPECT_EQ(more.size(), count + 2);
      EXPECT_EQ(more[place], 5);
      EXPECT_EQ(more[place + 1], 6);
      EXPECT_EQ(more.back(), place == count ? 6 : wanted.back());
    }
  }
}

TEST_P(InlineVectors, LeavesNothingWhereItMovesFrom) {
  Few from = UpTo(GetParam());
  Few to = std::move(from);
  EXPECT_EQ(to, UpTo(GetParam()));
  EXPECT_EQ(from.size(), 0u);  // NOLINT(bugprone-use-after-move)
  from = std::move(to);
  EXPECT_EQ(from, UpTo(GetParam()));
  EXPECT_EQ(to.size(), 0u);  // NOLINT(bugprone-use-after-move)
}

TEST(InlineVector, GrowsByAnElementOfItsOwn) {
  Few numbers = {7, 8, 9};
  numbers.push_back(numbers[0]);
  EXPECT_THAT(numbers, testing::ElementsAre(7, 8, 9, 7));
}

}  // namespace
}  // namespace assay::core
