// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/flow/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "framework/testing/support/tensors_fixture.h"

namespace assay::flow {
namespace {

using testing::ElementsAre;

template <class T>
Tensor Of(DType dtype, const std::vector<T>& elements) {
  return Raw(dtype, {std::ssize(elements)}, elements);
}

template <class T>
std::vector<T> Read(const Tensor& tensor) {
  std::vector<T> elements(static_cast<size_t>(tensor.num_elements()));
  std::memcpy(elements.data(), tensor.data(), elements.size() * sizeof(T));
  return elements;
}

template <class T>
std::vector<T> SumOf(DType dtype, const std::vector<std::vector<T>>& added) {
  std::vector<Tensor> gradients;
  for (const std::vector<T>& one : added) gradients.push_back(Of(dtype, one));
  Flow flow;
  for (const Tensor& gradient : gradients) {
    EXPECT_TRUE(flow.Add(gradient).ok());
  }
  EXPECT_TRUE(flow.Finish().ok());
  EXPECT_EQ(flow.sum().dtype(), dtype);
  return Read<T>(flow.sum());
}

TEST(Flow, OfNothingSettlesToZeros) {
  Tensor memory = Of<float>(DType::kFloat32, {1, 2});
  Flow flow;
  flow.LieIn(&memory, true);
  EXPECT_TRUE(flow.Finish().ok());
  EXPECT_FALSE(flow.any());
  ASSERT_TRUE(flow.Settle(DType::kFloat32, {2}).ok());
  EXPECT_THAT(Read<float>(memory), ElementsAre(0, 0));
}

TEST(Flow, SumsInItsType) {
  EXPECT_THAT(SumOf<float>(DType::kFloat32, {{1, 2}, {0.5, 4}, {1, 1}}),
              ElementsAre(2.5F, 7));
  EXPECT_THAT(SumOf<double>(DType::kFloat64, {{1, 2}, {0x1p-50, 4}}),
              ElementsAre(1 + 0x1p-50, 6));
}

// 2048 + 1 + 1 in float16, whose numbers are 2 apart there: 2050, and 2048
// where each sum is rounded; with three of 1, a tie between 2050 and 2052,
// 2052.
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

// A step: the first gradient is written into the memory of the sum.
TEST(Flow, KeepsItsMemoryFromRunToRun) {
  for (const bool callers : {false, true}) {
    Tensor memory = Of<double>(DType::kFloat64, {7, 7});
    const void* const place = memory.data();
    const Tensor second = Of<double>(DType::kFloat64, {1, 2});
    Flow flow;
    flow.LieIn(&memory, callers);
    for (const double first : {3.0, 5.0}) {
      flow.Clear();
      ASSERT_TRUE(flow.empty());
      Tensor* const to = *flow.First(DType::kFloat64, {2});
      EXPECT_FALSE(flow.empty());
      EXPECT_FALSE(flow.any());
      std::ranges::fill(to->mutable_elements<double>(), first);
      ASSERT_TRUE(flow.Add(*to).ok());
      ASSERT_TRUE(flow.Add(second).ok());
      ASSERT_TRUE(flow.Settle(DType::kFloat64, {2}).ok());
      EXPECT_THAT(Read<double>(memory), ElementsAre(first + 1, first + 2));
      EXPECT_EQ(memory.data(), place);
    }
    EXPECT_THAT(Read<double>(second), ElementsAre(1, 2));
  }
}

TEST(Flow, SumsHalvesAnewInEachRun) {
  const Tensor one = Of<uint16_t>(DType::kFloat16, {0x3C00});
  const Tensor two = Of<uint16_t>(DType::kFloat16, {0x4000});
  Flow flow;
  for (const Tensor* const first : {&one, &two, &one}) {
    flow.Clear();
    Tensor* const to = *flow.First(DType::kFloat16, {1});
    std::memcpy(to->mutable_data(), first->data(), sizeof(uint16_t));
    for (const Tensor* const gradient :
         {static_cast<const Tensor*>(to), &two, &one}) {
      ASSERT_TRUE(flow.Add(*gradient).ok());
    }
    ASSERT_TRUE(flow.Finish().ok());
    EXPECT_THAT(Read<uint16_t>(flow.sum()),
                ElementsAre(first == &one ? 0x4400 : 0x4500));  // 4, 5
  }
}

TEST(Flow, SettlesAForeignGradientByCopying) {
  const Tensor alone = Of<uint16_t>(DType::kFloat16, {0x3C00});
  Tensor memory = Of<uint16_t>(DType::kFloat16, {0});
  Flow flow;
  flow.LieIn(&memory, false);
  ASSERT_TRUE(flow.Add(alone).ok());
  EXPECT_EQ(flow.sum().data(), alone.data());
  ASSERT_TRUE(flow.Settle(DType::kFloat16, {1}).ok());
  EXPECT_THAT(Read<uint16_t>(memory), ElementsAre(0x3C00));
  EXPECT_NE(memory.data(), alone.data());
}

TEST(Flow, ExchangesMemoryThatIsHeldButNotTheCallers) {
  Tensor memory = Of<float>(DType::kFloat32, {7});
  const Tensor held = memory;
  Flow flow;
  flow.LieIn(&memory, true);
  EXPECT_EQ((*flow.First(DType::kFloat32, {1}))->data(), held.data());
  EXPECT_EQ(flow.First(DType::kFloat32, {2}).status().code(),
            StatusCode::kInvalidArgument);
  flow.LieIn(&memory, false);
  EXPECT_NE((*flow.First(DType::kFloat32, {1}))->data(), held.data());
  EXPECT_THAT(Read<float>(held), ElementsAre(7));
}

TEST(Flow, RefusesAnotherTypeOrShape) {
  const Tensor first = Of<float>(DType::kFloat32, {1, 2});
  Flow flow;
  ASSERT_TRUE(flow.Add(first).ok());
  EXPECT_EQ(flow.Add(Of<float>(DType::kFloat32, {1})).code(),
            StatusCode::kInternal);
  EXPECT_EQ(flow.Add(Of<double>(DType::kFloat64, {1, 2})).code(),
            StatusCode::kInternal);
}

}  // namespace
}  // namespace assay::flow
