// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::draw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                            DType::kBFloat16};

Draw SomeDraw(int64_t seed = 7) { return {"gradcheck/A/b", seed, "inputs"}; }

std::vector<double> RedrawnOf(const Tensor& official, int64_t seed = 7) {
  Draw draw = SomeDraw(seed);
  const auto drawn = Redrawn(official, draw);
  EXPECT_TRUE(drawn.ok()) << drawn.status().ToString();
  EXPECT_EQ(drawn->dtype(), official.dtype());
  EXPECT_EQ(drawn->shape(), official.shape());
  return NumbersOf(*drawn);
}

// Kills: a draw that leaves out the test_id, the seed or the purpose, or takes
// something of the machine.
TEST(Draw, IsOfTestIdSeedAndPurpose) {
  const auto first = [](const char* id, int64_t seed, const char* purpose) {
    return Draw(id, seed, purpose).Uniform();
  };
  const double own = first("a", 1, "b");
  EXPECT_EQ(first("a", 1, "b"), own);
  EXPECT_NE(first("c", 1, "b"), own);
  EXPECT_NE(first("a", 2, "b"), own);
  EXPECT_NE(first("a", 1, "c"), own);
}

// Kills: a range that is left or never filled.
TEST(Draw, StaysInItsRange) {
  Draw draw = SomeDraw();
  std::set<int64_t> seen;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double uniform = draw.Uniform();
    EXPECT_GE(uniform, 0);
    EXPECT_LT(uniform, 1);
    sum += uniform;
    seen.insert(draw.Index(5));
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
}

// Kills: a type that gradients are taken in and is not drawn, or the reverse.
TEST(Carries, IsOfTheTypesOf16BitsAndMore) {
  for (const DType type : kTypes) EXPECT_TRUE(Carries(type)) << ToString(type);
  for (const DType type : {DType::kFloat8E4M3FN, DType::kInt64, DType::kBool,
                           DType::kString, DType::kComplex64}) {
    EXPECT_FALSE(Carries(type)) << ToString(type);
  }
}

// Kills: numbers that are cut off where they are to be rounded, a half that is
// read as the other one, and an integer that is drawn.
TEST(TensorOf, RoundsToNearestEven) {
  const std::vector<double> numbers = {1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-8,
                                       1 + 0x3p-8, -kInf};
  EXPECT_THAT(NumbersOf(*TensorOf(DType::kFloat16, {5}, numbers)),
              ElementsAre(1, 1 + 0x2p-10, 1 + 0x1p-8, 1 + 0x3p-8, -kInf));
  EXPECT_THAT(NumbersOf(*TensorOf(DType::kBFloat16, {5}, numbers)),
              ElementsAre(1, 1, 1, 1 + 0x2p-7, -kInf));
  EXPECT_THAT(NumbersOf(*TensorOf(DType::kFloat64, {5}, numbers)),
              testing::ElementsAreArray(numbers));
  EXPECT_EQ(TensorOf(DType::kInt32, {5}, numbers).status().reason(),
            Reason::kDType);
}

// Kills: a domain that is left, as that of Log, and ties, where a gradient
// would have a kink.
TEST(Redrawn, StaysInTheRangeWithoutTies) {
  for (const DType type : kTypes) {
    SCOPED_TRACE(ToString(type));
    const Tensor official = Ramp(type, 64, 0.5, 0.125);
    const std::vector<double> drawn = RedrawnOf(official);
    EXPECT_THAT(drawn, Each(AllOf(Ge(0.5), Le(0.5 + 63 * 0.125))));
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), 64U);
    EXPECT_NE(drawn, NumbersOf(official));
    // All over the range, and not in its order.
    EXPECT_THAT(drawn, Contains(Le(0.75)));
    EXPECT_THAT(drawn, Contains(Ge(8.125)));
    EXPECT_FALSE(std::ranges::is_sorted(drawn));
  }
}

// Kills: a range of no width, which would repeat one number.
TEST(Redrawn, WidensTheRangeOfOneNumber) {
  struct Row {
    double number, low, high;
  };
  for (const Row& row : {Row{4, 2, 6}, Row{-4, -6, -2}, Row{0, -1, 1}}) {
    const std::vector<double> drawn =
        RedrawnOf(Ramp(DType::kFloat32, 32, row.number, 0));
    EXPECT_THAT(drawn, Each(AllOf(Ge(row.low), Le(row.high)))) << row.number;
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), 32U);
  }
}

// Kills: a mask of minus infinity, or a NaN, that is drawn over, or widens the
// range.
TEST(Redrawn, KeepsWhatIsNotFinite) {
  const std::vector<double> drawn = RedrawnOf(
      *TensorOf(DType::kFloat32, {5},
                std::vector<double>{1, -kInf, 2, std::nan(""), kInf}));
  EXPECT_EQ(drawn[1], -kInf);
  EXPECT_TRUE(std::isnan(drawn[3]));
  EXPECT_EQ(drawn[4], kInf);
  EXPECT_THAT((std::vector<double>{drawn[0], drawn[2]}),
              Each(AllOf(Ge(1), Le(2))));
  EXPECT_THAT(
      RedrawnOf(*TensorOf(DType::kFloat32, {1}, std::vector<double>{kInf})),
      ElementsAre(kInf));
  EXPECT_TRUE(RedrawnOf(Ramp(DType::kFloat32, 0, 0, 0)).empty());
}

// Kills: inputs of an oracle that are not those of the judge.
TEST(Redrawn, IsTheSameForTheSameSeedOnly) {
  const Tensor official = Ramp(DType::kFloat32, 16, -1, 0.125);
  EXPECT_EQ(RedrawnOf(official), RedrawnOf(official));
  EXPECT_NE(RedrawnOf(official), RedrawnOf(official, 8));
}

// Kills: a number that is rounded twice, by way of float32, and one that is
// lost or of another sign there.
TEST(TensorOf, RoundsOnce) {
  struct Row {
    DType type;
    double number, want;
  };
  for (const Row& row :
       {Row{DType::kFloat16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
        Row{DType::kFloat16, -1 - 0x1p-11 - 0x1p-40, -1 - 0x1p-10},
        Row{DType::kFloat16, 1 + 0x3p-11 - 0x1p-40, 1 + 0x1p-10},
        Row{DType::kFloat16, 0x1p-25 + 0x1p-60, 0x1p-24},
        Row{DType::kFloat16, 65520 - 0x1p-30, 65504},
        Row{DType::kFloat16, 1e300, kInf}, Row{DType::kFloat16, -1e-300, -0.0},
        Row{DType::kBFloat16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},
        Row{DType::kBFloat16, 1 + 0x3p-8 - 0x1p-40, 1 + 0x1p-7},
        Row{DType::kBFloat16, -1e300, -kInf}}) {
    const std::vector<double> one = {row.number};
    const double got = NumbersOf(*TensorOf(row.type, {1}, one))[0];
    EXPECT_EQ(got, row.want) << ToString(row.type) << " " << row.number;
    EXPECT_EQ(std::signbit(got), std::signbit(row.number));
  }
}

}  // namespace
}  // namespace assay::draw
