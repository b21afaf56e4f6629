// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/referee.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::reference {
namespace {

// s x + a x^3 + b x^5, whose differences at steps of h and h / 2 are one number
// where a = -5/4 b h^2. Kills: an entry of the tableau that is believed because
// its two forerunners happen to be alike.
TEST(Referee, IsNotFooledByErrorsThatCancel) {
  const RefereeOptions options;
  const double h = options.step;
  for (const double b : {1.0, -1e4, 1e8}) {
    const double a = -1.25 * b * h * h;
    const auto slope = SlopeAtZero(
        [&](double x) -> Result<Sample> {
          const double value = 3 * x + a * x * x * x + b * std::pow(x, 5);
          return Sample{value, 0x1p-52 * std::abs(value)};
        },
        options);
    ASSERT_TRUE(slope.ok()) << slope.status().message();
    EXPECT_LE(std::abs(slope->value - 3), slope->bound) << b;
  }
}

TEST(Referee, ResolvesASmoothSlope) {
  const auto slope = SlopeAtZero(
      [](double x) -> Result<Sample> {
        return Sample{std::exp(x), 0x1p-52};
      },
      {});
  ASSERT_TRUE(slope.ok()) << slope.status().message();
  EXPECT_LE(std::abs(slope->value - 1), slope->bound);
  EXPECT_LT(slope->bound, 1e-12);
}

}  // namespace
}  // namespace assay::reference
