// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/draw/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/testing/support/drawn_fixture.h"

namespace assay::gradcheck {
namespace {

using testing::Contains;
using testing::Ge;
using testing::Le;

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                            DType::kBFloat16};

Draw SomeDraw(int64_t seed = 7) { return {"gradcheck/A/b", seed, "inputs"}; }

// Kills: an integer that is left out, and one of which products are not exact.
TEST(Integers, AreThoseFromMinusTwoToTwo) {
  for (const DType type : kTypes) {
    Draw draw = SomeDraw();
    const auto drawn = NumbersOf(*Integers(Ramp(type, 100, 0.3, 0.01), draw));
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()),
              (std::set<double>{-2, -1, 0, 1, 2}));
  }
}

// Kills: numbers without their like, a kink of an attribute that is not met,
// and a zero of one sign.
TEST(Tied, RepeatsFewNumbersAndTheMarks) {
  Draw draw = SomeDraw();
  const auto drawn = NumbersOf(
      *Tied(Ramp(DType::kFloat32, 400, 0, 1), std::vector<double>{3}, draw));
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()),
            (std::set<double>{-3, -1, 0, 0.5, 1, 2, 3}));
  const auto minus_zero = [](double x) { return x == 0 && std::signbit(x); };
  const auto plus_zero = [](double x) { return x == 0 && !std::signbit(x); };
  EXPECT_GT(std::ranges::count_if(drawn, minus_zero), 0);
  EXPECT_GT(std::ranges::count_if(drawn, plus_zero), 0);
}

// Kills: an element that keeps what was drawn in most places, one that is taken
// from another place, and a scalar that is met once.
TEST(Met, TakesThreeOfFourFromTheOthersAtTheirPlace) {
  Draw draw = SomeDraw();
  const Tensor drawn = Ramp(DType::kFloat32, 400, 1000, 0);
  const std::vector<Tensor> others = {Ramp(DType::kFloat32, 400, 0, 1),
                                      Ramp(DType::kFloat32, 1, -1, 0)};
  const auto met = NumbersOf(*Met(drawn, others, draw));
  std::array<int, 3> counts = {};
  for (size_t i = 0; i < met.size(); ++i) {
    if (met[i] == 1000) ++counts[0];
    if (met[i] == static_cast<double>(i)) ++counts[1];
    if (met[i] == -1) ++counts[2];
  }
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 400);
  EXPECT_NEAR(counts[0], 100, 40);
  EXPECT_NEAR(counts[1], 150, 40);
}

// Kills: a cotangent of fewer bits than it was asked for, so that a narrower
// type has it too, or of more.
TEST(Weights, AreOfTheirBits) {
  const DType narrower[] = {DType::kFloat32, DType::kBFloat16};
  for (const int bits : {30, 20}) {
    Draw draw = SomeDraw();
    const std::vector<double> weights = Weights(200, bits, draw);
    const auto type = narrower[bits == 20 ? 1 : 0];
    const auto rounded = NumbersOf(*TensorOf(type, {200}, weights));
    int same = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(std::ldexp(weights[i], bits - 1),
                std::nearbyint(std::ldexp(weights[i], bits - 1)));
      if (rounded[i] == weights[i]) ++same;
    }
    EXPECT_LT(same, 20) << bits;
  }
}

// Kills: a cotangent that a narrow type rounds, that is small beside others, or
// of one sign.
TEST(Weights, AreOfSizeOneToTwoInEveryType) {
  Draw draw = SomeDraw();
  const std::vector<double> weights = Weights(200, 5, draw);
  for (const double w : weights) {
    EXPECT_GE(std::abs(w), 1);
    EXPECT_LT(std::abs(w), 2);
  }
  for (const DType type : kTypes) {
    EXPECT_EQ(NumbersOf(*TensorOf(type, {200}, weights)), weights);
  }
  EXPECT_THAT(weights, Contains(Le(-1)));
  EXPECT_THAT(weights, Contains(Ge(1)));
  EXPECT_EQ(std::set<double>(weights.begin(), weights.end()).size(), 32U);
}

// Kills: a sign that has no chance.
TEST(Signs, AreOneOfEachKind) {
  Draw draw = SomeDraw();
  const std::vector<double> signs = Signs(1000, draw);
  const auto plus = std::ranges::count(signs, 1);
  EXPECT_EQ(plus + std::ranges::count(signs, -1), 1000);
  EXPECT_NEAR(static_cast<double>(plus), 500, 80);
}

}  // namespace
}  // namespace assay::gradcheck
