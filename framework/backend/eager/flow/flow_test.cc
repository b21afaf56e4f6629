// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/flow/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace assay::flow {
namespace {

using testing::ElementsAre;

template <class T>
Tensor Of(DType dtype, const std::vector<T>& elements) {
  Tensor tensor =
      *Tensor::Allocate(dtype, {static_cast<int64_t>(elements.size())});
  std::memcpy(tensor.mutable_data(), elements.data(),
              elements.size() * sizeof(T));
  return tensor;
}

template <class T>
std::vector<T> Read(const Tensor& tensor) {
  std::vector<T> elements(static_cast<size_t>(tensor.num_elements()));
  std::memcpy(elements.data(), tensor.data(), elements.size() * sizeof(T));
  return elements;
}

template <class T>
std::vector<T> SumOf(DType dtype, const std::vector<std::vector<T>>& added) {
  Flow flow;
  for (const std::vector<T>& one : added) {
    EXPECT_TRUE(flow.Add(Of(dtype, one)).ok());
  }
  EXPECT_TRUE(flow.Finish().ok());
  EXPECT_EQ(flow.sum().dtype(), dtype);
  return Read<T>(flow.sum());
}

TEST(Flow, OfNothingIsUndefined) {
  Flow flow;
  EXPECT_TRUE(flow.Finish().ok());
  EXPECT_FALSE(flow.any());
  EXPECT_FALSE(flow.sum().defined());
}

TEST(Flow, SumsInItsType) {
  EXPECT_THAT(SumOf<float>(DType::kFloat32, {{1, 2}, {0.5, 4}, {1, 1}}),
              ElementsAre(2.5F, 7));
  EXPECT_THAT(SumOf<double>(DType::kFloat64, {{1, 2}, {0x1p-50, 4}}),
              ElementsAre(1 + 0x1p-50, 6));
}

// 2048 + 1 + 1 in float16, whose numbers are 2 apart there: 2050, and 2048 where
// each sum is rounded; with three of 1, a tie between 2050 and 2052, 2052.
TEST(Flow, SumsHalvesInFloat32AndRoundsOnce) {
  constexpr uint16_t k2048 = 0x6800;
  constexpr uint16_t k2050 = 0x6801;
  constexpr uint16_t k2052 = 0x6802;
  constexpr uint16_t kOne = 0x3C00;
  EXPECT_THAT(SumOf<uint16_t>(DType::kFloat16, {{k2048}, {kOne}, {kOne}}),
              ElementsAre(k2050));
  EXPECT_THAT(
      SumOf<uint16_t>(DType::kFloat16, {{k2048}, {kOne}, {kOne}, {kOne}}),
      ElementsAre(k2052));
  // 256 + 1 + 1 in bfloat16: 258.
  EXPECT_THAT(SumOf<uint16_t>(DType::kBFloat16, {{0x4380}, {0x3F80}, {0x3F80}}),
              ElementsAre(0x4381));
}

TEST(Flow, SpecialHalvesStay) {
  constexpr uint16_t kMinusZero = 0x8000;
  constexpr uint16_t kInfinity = 0x7C00;
  constexpr uint16_t kGreatest = 0x7BFF;
  EXPECT_THAT(SumOf<uint16_t>(DType::kFloat16, {{kMinusZero}}),
              ElementsAre(kMinusZero));
  EXPECT_THAT(SumOf<uint16_t>(DType::kFloat16, {{kMinusZero}, {kMinusZero}}),
              ElementsAre(kMinusZero));
  EXPECT_THAT(SumOf<uint16_t>(DType::kFloat16, {{kGreatest}, {kGreatest}}),
              ElementsAre(kInfinity));
  EXPECT_THAT(SumOf<uint16_t>(DType::kFloat16, {{1}, {1}}),  // subnormal
              ElementsAre(2));
}

TEST(Flow, NeverWritesIntoMemoryThatIsShared) {
  for (const auto& [dtype, one] : {std::pair(DType::kFloat16, 0x3C00),
                                   std::pair(DType::kBFloat16, 0x3F80)}) {
    const auto bits = static_cast<uint16_t>(one);
    const Tensor first = Of<uint16_t>(dtype, {bits});
    Flow flow;
    ASSERT_TRUE(flow.Add(first).ok());
    ASSERT_TRUE(flow.Add(first).ok());
    ASSERT_TRUE(flow.Finish().ok());
    EXPECT_THAT(Read<uint16_t>(first), ElementsAre(bits));
  }
  const Tensor first = Of<double>(DType::kFloat64, {1, 2});
  Flow flow;
  ASSERT_TRUE(flow.Add(first).ok());
  ASSERT_TRUE(flow.Add(first).ok());
  EXPECT_THAT(Read<double>(flow.sum()), ElementsAre(2, 4));
  EXPECT_THAT(Read<double>(first), ElementsAre(1, 2));
}

TEST(Flow, RefusesAnotherTypeOrShape) {
  Flow flow;
  ASSERT_TRUE(flow.Add(Of<float>(DType::kFloat32, {1, 2})).ok());
  EXPECT_EQ(flow.Add(Of<float>(DType::kFloat32, {1})).code(),
            StatusCode::kInternal);
  EXPECT_EQ(flow.Add(Of<double>(DType::kFloat64, {1, 2})).code(),
            StatusCode::kInternal);
}

}  // namespace
}  // namespace assay::flow
