// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

Tensor TensorOfBytes(DType type, int64_t count, std::vector<uint8_t> bytes) {
  return *Tensor::FromBytes(type, {count}, std::as_bytes(std::span(bytes)));
}

template <class T>
std::vector<T> Decoded(const Tensor& tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, values.data());
  return values;
}

template <class T>
Tensor Encoded(DType type, const std::vector<T>& values,
               const Rounding& rounding = {}) {
  Tensor tensor =
      *Tensor::Allocate(type, {static_cast<int64_t>(values.size())});
  Encode(values.data(), tensor, rounding);
  return tensor;
}

TEST(Codec, ReadsPackedElementsLowestBitsFirst) {
  EXPECT_THAT(Decoded<int64_t>(TensorOfBytes(DType::kInt4, 3, {0x8F, 0x07})),
              ElementsAre(-1, -8, 7));
  EXPECT_THAT(
      Decoded<uint64_t>(TensorOfBytes(DType::kUint2, 5, {0b11100100, 0b10})),
      ElementsAre(0, 1, 2, 3, 2));
  // 6-bit elements 1, 2 and 63 cross bytes.
  EXPECT_THAT(
      Decoded<float>(TensorOfBytes(DType::kFloat6E2M3, 3, {0x81, 0xF0, 0x03})),
      ElementsAre(0.125F, 0.25F, -7.5F));
}

TEST(Codec, WritesWhatItReads) {
  for (const DType type :
       {DType::kInt4, DType::kUint4, DType::kInt2, DType::kUint2,
        DType::kFloat4E2M1, DType::kFloat6E3M2, DType::kFloat16, DType::kInt8,
        DType::kUint16}) {
    // Three widths' worth of bits, so that every bit is used.
    std::vector<uint8_t> bytes = {0x1B, 0xE4, 0x27, 0x5A, 0x69, 0x36};
    const int64_t count = 48 / BitsOf(type);
    const Tensor tensor = TensorOfBytes(type, count, bytes);
    const Tensor again = Encoded(type, Decoded<double>(tensor));
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), again.bytes())) << type;
  }
}

TEST(Codec, FloatsBecomeIntegersByTruncationAndBooleansByComparison) {
  const std::vector<double> values = {-1.9, 0.5, 2.7};
  EXPECT_THAT(Encoded(DType::kInt32, values).elements<int32_t>(),
              ElementsAre(-1, 0, 2));
  EXPECT_THAT(Encoded(DType::kBool, values).elements<bool>(),
              ElementsAre(true, true, true));
  EXPECT_THAT(
      Encoded(DType::kBool, std::vector<double>{0.0, -0.0}).elements<bool>(),
      ElementsAre(false, false));
}

TEST(Codec, IntegersWrapToTheWidth) {
  EXPECT_THAT(Encoded(DType::kInt8, std::vector<int64_t>{127, 128, -129})
                  .elements<int8_t>(),
              ElementsAre(127, -128, 127));
  EXPECT_THAT(Encoded(DType::kUint8, std::vector<uint64_t>{255, 256})
                  .elements<uint8_t>(),
              ElementsAre(255, 0));
}

// 2^60 + 2^52 is halfway between bfloat16 neighbours; the last bit decides, and
// a detour through double loses it.
TEST(Codec, LargeIntegersAreRoundedOnce) {
  const int64_t tie = (int64_t{1} << 60) + (int64_t{1} << 52);
  const Tensor rounded =
      Encoded(DType::kBFloat16, std::vector<int64_t>{tie, tie + 1, -tie - 1});
  EXPECT_THAT(rounded.elements<uint16_t>(),
              ElementsAre(0x5D80, 0x5D81, 0xDD81));
}

TEST(Codec, PowersOfTwoRoundAsAsked) {
  struct Row {
    ScaleRounding scale;
    uint8_t of_three;
    uint8_t of_five;
  };
  // 3 is midway between 2 and 4 (codes 128, 129), 5 is nearer to 4 than to 8.
  for (const Row& row :
       {Row{ScaleRounding::kUp, 129, 130}, Row{ScaleRounding::kDown, 128, 129},
        Row{ScaleRounding::kNearest, 129, 129}}) {
    const Tensor codes = Encoded(
        DType::kFloat8E8M0, std::vector<float>{1, 3, 5}, {.scale = row.scale});
    EXPECT_THAT(codes.elements<uint8_t>(),
                ElementsAre(127, row.of_three, row.of_five));
  }
  EXPECT_THAT(Decoded<float>(TensorOfBytes(DType::kFloat8E8M0, 2, {126, 128})),
              ElementsAre(0.5F, 2.0F));
}

TEST(Codec, ScalarsAreAsWideAsTheirTypesNeed) {
  EXPECT_EQ(ScalarOf(DType::kBFloat16), ScalarKind::kFloat);
  EXPECT_EQ(ScalarOf(DType::kFloat64), ScalarKind::kDouble);
  EXPECT_EQ(ScalarOf(DType::kInt4), ScalarKind::kInt64);
  EXPECT_EQ(ScalarOf(DType::kBool), ScalarKind::kUint64);
  EXPECT_EQ(ScalarOf(DType::kString), ScalarKind::kNone);
  EXPECT_EQ(ScalarOf(DType::kComplex64), ScalarKind::kNone);
}

TEST(Codec, OwnTypesAreUsedWhereTheyLie) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, {2});
  EXPECT_EQ(static_cast<const void*>(Loaded<float>(tensor).data()),
            tensor.data());
  EXPECT_NE(static_cast<const void*>(Loaded<double>(tensor).data()),
            tensor.data());
  {
    Stored<double> stored(&tensor);
    stored[0] = 0.5;
    stored[1] = 2.5;
  }
  EXPECT_THAT(tensor.elements<float>(), ElementsAre(0.5F, 2.5F));
  EXPECT_EQ(Loaded<float>(Tensor()).data(), nullptr);
  EXPECT_EQ(Stored<float>(nullptr).data(), nullptr);
}

}  // namespace
}  // namespace assay::reference
