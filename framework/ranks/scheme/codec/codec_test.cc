// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::ranks {
namespace {

using ::testing::ElementsAre;
using Pairs = std::vector<PlacedNumber>;

std::vector<float> ThereAndBack(Codec& codec, const std::vector<float>& x) {
  std::vector<std::byte> bytes(
      static_cast<size_t>(codec.BytesOf(std::ssize(x))));
  codec.Encode(x, bytes);
  std::vector<float> back(x.size(), -1);
  EXPECT_TRUE(codec.Decode(bytes, back).ok());
  return back;
}

std::vector<float> DrawnNumbers(int count, uint64_t key) {
  core::Numbers numbers(key);
  std::vector<float> drawn;
  for (int i = 0; i < count; ++i) {
    drawn.push_back(static_cast<float>(numbers.Share() - 0.4));
  }
  return drawn;
}

// Kills: bits that are cut off, an exponent that is off at a power of two.
TEST(RoundingCodecTest, RoundsToFloat16) {
  RoundingCodec codec(DType::kFloat16);
  EXPECT_EQ(codec.BytesOf(5), 10);
  const std::vector<float> x = {
      0,        1,        -2,       2047,         2049,
      2051,     65519,    65520,    -kInf,        0x1p-24F,
      0x1p-25F, 0x3p-25F, 0x1p-14F, 0x1.ffcp-15F, 0x1.ff8p-15F};
  EXPECT_THAT(
      ThereAndBack(codec, x),
      ElementsAre(0, 1, -2, 2047, 2048, 2052, 65504, kInf, -kInf, 0x1p-24F, 0,
                  0x1p-23F, 0x1p-14F, 0x1p-14F, 0x1.ff8p-15F));
  EXPECT_TRUE(std::isnan(ThereAndBack(codec, {std::nanf("")})[0]));
  EXPECT_TRUE(std::signbit(ThereAndBack(codec, {-0.0F})[0]));
}

TEST(RoundingCodecTest, RoundsToBFloat16) {
  RoundingCodec codec(DType::kBFloat16);
  const std::vector<float> x = {256,         257,
                                259,         -1.00390625F,
                                1.01171875F, std::numeric_limits<float>::max()};
  EXPECT_THAT(ThereAndBack(codec, x),
              ElementsAre(256, 256, 260, -1, 1.015625F, kInf));
  EXPECT_TRUE(std::isnan(ThereAndBack(codec, {std::nanf("")})[0]));
}

// Kills: the greatest number in place of the greatest magnitude; of equals the
// last.
TEST(TopCodecTest, KeepsTheGreatest) {
  TopCodec codec(0.4);
  EXPECT_EQ(codec.BytesOf(5), 16);
  EXPECT_EQ(codec.BytesOf(6), 24);
  EXPECT_EQ(codec.BytesOf(0), 0);
  EXPECT_THAT(ThereAndBack(codec, {1, -3, 2, -2, 0}),
              ElementsAre(0, -3, 2, 0, 0));
  const std::vector<float> x = DrawnNumbers(100, 1);
  TopCodec all(1);
  EXPECT_EQ(ThereAndBack(all, x), x);
  TopCodec one(0);
  EXPECT_EQ(one.BytesOf(7), 8);
  const auto kept = ThereAndBack(one, {1, kInf, std::nanf("")});
  EXPECT_THAT(kept, ElementsAre(0, kInf, 0));
}

// Kills: a place that is written without a look, beyond the end.
TEST(TopCodecTest, RefusesAPlaceThatIsNone) {
  TopCodec codec(1);
  std::vector<float> x = {1, 2, 3};
  std::vector<std::byte> bytes(24);
  codec.Encode(x, bytes);
  std::vector<float> shorter(2);
  EXPECT_THAT(codec.Decode(bytes, shorter),
              Says("found a number at place 2, wanted 0 to 2"));
}

// Kills: means of all numbers, or of the other kind.
TEST(SignCodecTest, KeepsTheSumOfEachKind) {
  SignCodec codec;
  EXPECT_EQ(codec.BytesOf(8), 9);
  EXPECT_EQ(codec.BytesOf(9), 10);
  EXPECT_THAT(ThereAndBack(codec, {4, -1, 0, -3, 2, 6, -2, 1, -6}),
              ElementsAre(2.6F, -3, 2.6F, -3, 2.6F, 2.6F, -3, 2.6F, -3));
  EXPECT_THAT(ThereAndBack(codec, {1, 3}), ElementsAre(2, 2));
}

// Kills: a number that is always rounded down, or always to the nearest level.
// The mean of 4,000 draws is within 6 of its standard deviations but for 2 in
// 10^9 of seeds.
TEST(LevelCodecTest, IsRightOnTheMean) {
  constexpr int kDraws = 4000, kLevels = 4;
  const std::vector<float> x = DrawnNumbers(20, 2);
  const float norm =
      std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0F));
  LevelCodec codec(kLevels, 3);
  EXPECT_EQ(codec.BytesOf(20), 24);
  std::vector<double> sum(x.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto back = ThereAndBack(codec, x);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_LT(std::fabs(back[i] - x[i]), 1.0001F * norm / kLevels);
      sum[i] += double{back[i]};
    }
  }
  const double deviation = norm / kLevels / 2 / std::sqrt(kDraws);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(sum[i] / kDraws, x[i], 6 * deviation);
  }
  EXPECT_THAT(ThereAndBack(codec, {0, 0}), ElementsAre(0, 0));
  EXPECT_THAT(ThereAndBack(codec, {0, -5, 0}), ElementsAre(0, -5, 0));
}

TEST(LevelCodecTest, RefusesALevelThatIsNone) {
  LevelCodec many(100, 1);
  std::vector<std::byte> bytes(5);
  const std::vector<float> x = {1};
  many.Encode(x, bytes);
  LevelCodec few(4, 1);
  std::vector<float> back(1);
  EXPECT_THAT(few.Decode(bytes, back),
              Says("found the level 100, wanted at most 4"));
}

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
    const auto back = Got(SparseVector::FromBytes(row.size, vector.bytes()));
    EXPECT_EQ(back.is_dense(), row.is_dense);
    EXPECT_EQ(back.Numbers(), numbers);
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

/// The number 1 at these places.
Pairs Ones(auto... places) { return {{places, 1}...}; }

/// Bytes that no vector of ten numbers has.
struct Wrong {
  std::string name;
  Pairs pairs;
  size_t more;  // bytes after the pairs
  std::string message;
};

const Wrong kWrongs[] = {
    {"a place beyond the end", Ones(3, 10), 0,
     "found a number at place 10, wanted 4 to 10 without its end"},
    {"a place before the first", Ones(-1), 0,
     "found a number at place -1, wanted 0 to 10"},
    {"a place twice", Ones(3, 3), 0,
     "found a number at place 3, wanted 4 to 10"},
    {"places that fall", Ones(3, 2), 0,
     "found a number at place 2, wanted 4 to 10"},
    {"half a pair", Ones(3), 4, "found 12 bytes of a sparse vector, wanted 8"},
    {"more than all", First(5), 8, "found 48 bytes of a sparse vector"},
};

// Kills: numbers that are written where they should not.
TEST(SparseVectorTest, RefusesBytesThatNoVectorHas) {
  for (const Wrong& wrong : kWrongs) {
    const auto pairs = std::as_bytes(std::span(wrong.pairs));
    std::vector<std::byte> bytes(pairs.begin(), pairs.end());
    bytes.resize(bytes.size() + wrong.more);
    const Status status = SparseVector::FromBytes(10, bytes).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kDataLoss, wrong.message))
        << wrong.name;
  }
  EXPECT_FALSE(SparseVector::CheckLength(10, -8).ok());
}

}  // namespace
}  // namespace assay::ranks
