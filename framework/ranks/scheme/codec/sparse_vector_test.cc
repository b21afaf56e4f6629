// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/sparse_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::ranks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pairs = std::vector<PlacedNumber>;

/// The first places, with the numbers 1, 2, 3 ...
Pairs First(int count) {
  Pairs pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({i, static_cast<float>(i + 1)});
  }
  return pairs;
}

// Kills: a switch that comes a pair too early or too late.
TEST(SparseVectorTest, IsDenseWhereThatIsNoMoreBytes) {
  const struct {
    int64_t size;
    int pairs;
    bool is_dense;
    size_t bytes;
  } kRows[] = {{10, 4, false, 32}, {10, 5, true, 40}, {10, 6, true, 40},
               {11, 5, false, 40}, {11, 6, true, 44}, {1, 0, false, 0},
               {1, 1, true, 4},    {0, 0, true, 0}};
  for (const auto& row : kRows) {
    const SparseVector vector(row.size, First(row.pairs));
    EXPECT_EQ(vector.is_dense(), row.is_dense) << row.size << ", " << row.pairs;
    EXPECT_EQ(vector.bytes().size(), row.bytes);
    std::vector<float> numbers(static_cast<size_t>(row.size));
    for (const auto& [place, number] : First(row.pairs)) {
      numbers[static_cast<size_t>(place)] = number;
    }
    EXPECT_EQ(vector.Numbers(), numbers);
    const auto back = SparseVector::FromBytes(row.size, vector.bytes());
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(back->is_dense(), row.is_dense);
    EXPECT_EQ(back->Numbers(), numbers);
  }
}

// Kills: a place of one of the two that is lost, or comes twice.
TEST(SparseVectorTest, SumsMergeByPlace) {
  const SparseVector one(20, {{2, 1}, {5, 2}, {9, 3}});
  const SparseVector other(20, {{0, 10}, {5, -2}, {12, 20}});
  const SparseVector sum = SumOf(one, other);
  EXPECT_FALSE(sum.is_dense());
  // A place whose numbers cancel stays one.
  EXPECT_EQ(sum.bytes().size(), 5 * sizeof(PlacedNumber));
  EXPECT_THAT(sum.Numbers(), ElementsAre(10, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0,
                                         20, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(SumOf(other, one).Numbers(), sum.Numbers());
}

TEST(SparseVectorTest, SumsOfDenseOnesAreDense) {
  const SparseVector sparse(5, {{3, 1}});
  const SparseVector dense(5, First(4));
  ASSERT_TRUE(dense.is_dense());
  for (const SparseVector& sum : {SumOf(sparse, dense), SumOf(dense, sparse)}) {
    EXPECT_TRUE(sum.is_dense());
    EXPECT_THAT(sum.Numbers(), ElementsAre(1, 2, 3, 5, 0));
  }
  EXPECT_THAT(SumOf(dense, dense).Numbers(), ElementsAre(2, 4, 6, 8, 0));
  const SparseVector other(5, {{0, 4}, {1, 5}});
  EXPECT_FALSE(other.is_dense());
  EXPECT_TRUE(SumOf(sparse, other).is_dense());
}

/// Bytes that no vector of ten numbers has.
struct Wrong {
  std::string name;
  Pairs pairs;
  size_t more;  // bytes after the pairs
  std::string message;
};

const Wrong kWrongs[] = {
    {"a place beyond the end",
     {{3, 1}, {10, 1}},
     0,
     "found a number at place 10, wanted 4 to 10 without its end"},
    {"a place before the first",
     {{-1, 1}},
     0,
     "found a number at place -1, wanted 0 to 10"},
    {"a place twice",
     {{3, 1}, {3, 1}},
     0,
     "found a number at place 3, wanted 4 to 10"},
    {"places that fall",
     {{3, 1}, {2, 1}},
     0,
     "found a number at place 2, wanted 4 to 10"},
    {"half a pair", {{3, 1}}, 4, "found 12 bytes of a sparse vector, wanted 8"},
    {"more than all", First(5), 8, "found 48 bytes of a sparse vector"},
};

// Kills: numbers that are written where they should not.
TEST(SparseVectorTest, RefusesBytesThatNoVectorHas) {
  for (const Wrong& wrong : kWrongs) {
    const auto pairs = std::as_bytes(std::span(wrong.pairs));
    std::vector<std::byte> bytes(pairs.begin(), pairs.end());
    bytes.resize(bytes.size() + wrong.more);
    const Status status = SparseVector::FromBytes(10, bytes).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << wrong.name;
    EXPECT_THAT(status.message(), HasSubstr(wrong.message)) << wrong.name;
  }
  EXPECT_FALSE(SparseVector::CheckLength(10, -8).ok());
}

}  // namespace
}  // namespace assay::ranks
