// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;

template <class T>
T Both(Reduction reduction, T own, T came) {
  Tensor tensor = Tensor::Of<T>({1}, std::array{own}).value();
  const std::array other = {came};
  EXPECT_TRUE(
      Combine(reduction, std::as_bytes(std::span(other)), {0, 1}, &tensor)
          .ok());
  return tensor.elements<T>()[0];
}

TEST(ReductionTest, CombinesEachType) {
  EXPECT_EQ(Both<float>(Reduction::kSum, 1.5F, 2), 3.5F);
  EXPECT_EQ(Both<double>(Reduction::kProduct, 1.5, 2), 3);
  EXPECT_EQ(Both<int32_t>(Reduction::kMin, -3, 2), -3);
  EXPECT_EQ(Both<int64_t>(Reduction::kMax, -3, 2), 2);
}

TEST(ReductionTest, IntegersWrapAround) {
  constexpr auto kMost = std::numeric_limits<int32_t>::max();
  constexpr auto kMost64 = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Both<int32_t>(Reduction::kSum, kMost, 1),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Both<int64_t>(Reduction::kProduct, kMost64, 2), -2);
}

// Kills: an extreme that is one rank's or the other's, whichever comes first.
TEST(ReductionTest, ExtremesAreTheSameInBothOrders) {
  for (const auto& [a, b] : {std::pair(-0.0F, 0.0F), {0.0F, -0.0F}}) {
    EXPECT_TRUE(std::signbit(Both(Reduction::kMin, a, b)));
    EXPECT_FALSE(std::signbit(Both(Reduction::kMax, a, b)));
  }
  for (const auto& [a, b] : {std::pair(NAN, 1.0F), {1.0F, NAN}}) {
    EXPECT_TRUE(std::isnan(Both(Reduction::kMin, a, b)));
    EXPECT_TRUE(std::isnan(Both(Reduction::kMax, a, b)));
  }
}

TEST(ReductionTest, DeclinesOtherTypesAndParts) {
  Tensor bytes = Tensor::Allocate(DType::kInt8, {4}).value();
  const std::array<std::byte, 2> came = {};
  const Status type = Combine(Reduction::kSum, came, {0, 2}, &bytes);
  EXPECT_EQ(type.code(), StatusCode::kUnsupported);
  EXPECT_THAT(type.message(), HasSubstr("found the type int8"));
  EXPECT_THAT(Combine(Reduction::kSum, came, {0, 3}, &bytes).message(),
              HasSubstr("found 2 bytes, wanted 3"));
  EXPECT_THAT(
      Combine(Reduction::kSum, came, {3, 2}, &bytes).message(),
      HasSubstr("found the elements from 3 to 5, wanted some of the 4"));
  Tensor nibbles = Tensor::Allocate(DType::kInt4, {4}).value();
  EXPECT_THAT(BytesOf({0, 2}, &nibbles).status().message(),
              HasSubstr("wanted one of whole bytes"));
}

}  // namespace
}  // namespace assay::ranks
