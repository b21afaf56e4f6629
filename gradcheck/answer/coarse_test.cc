// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/coarse.h"

#include <gtest/gtest.h>

#include <vector>

#include "framework/testing/support/tensors_fixture.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

TEST(CoarseTest, RoundsUpByAHundredthAtMost) {
  std::vector<double> numbers = {0, -0.0, 1, 255, 256, 257, 3e38, 0x1p-126};
  numbers.push_back(kInf);
  Draw draw("Coarse", 0, "test");
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(draw.Uniform() * (i % 2 == 0 ? 1 : 1e-30));
  }
  const Tensor coarse = Coarse(Doubles(numbers)).value();
  ASSERT_EQ(coarse.dtype(), DType::kBFloat16);
  const std::vector<double> found = NumbersOf(coarse);
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_GE(found[i], numbers[i]) << i;
    EXPECT_LE(found[i], kCoarsest * numbers[i]) << i;
  }
}

TEST(CoarseTest, KeepsNumbersOfFewDigits) {
  const std::vector<double> numbers = {0, 1, 3, 127, 255, 0x1.FEp-9, kInf};
  EXPECT_EQ(NumbersOf(Coarse(Doubles(numbers)).value()), numbers);
}

// Where one number is out of range all stay: below the normal numbers of
// bfloat16, beyond its greatest, or none at all.
TEST(CoarseTest, KeepsWhatTheTypeHasNot) {
  for (const double x : std::vector<double>{0x1p-127, 5e-324, 3.4e38, 1e300,
                                            0x1.fffffffffffffp1023, kNan}) {
    const Tensor kept = Coarse(Doubles({1.001, x})).value();
    ASSERT_EQ(kept.dtype(), DType::kFloat64) << x;
    EXPECT_EQ(kept.elements<double>()[0], 1.001) << x;
  }
}

}  // namespace
}  // namespace assay::gradcheck
