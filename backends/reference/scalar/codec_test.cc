// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/reference/scalar/float_format.h"
#include "backends/reference/scalar/seeds.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

struct Conversion {
  DType type;
  double value;
  uint32_t code;
  Overflow overflow = Overflow::kPropagate;
};

// By hand, from the formats' bit layouts.
const std::vector<Conversion> kConversions = {
    {DType::kFloat16, 1.0, 0x3C00},
    {DType::kFloat16, -2.0, 0xC000},
    {DType::kFloat16, 65504.0, 0x7BFF},
    {DType::kFloat16, 65519.0, 0x7BFF},
    {DType::kFloat16, 65520.0, 0x7C00},  // the tie goes to infinity
    {DType::kFloat16, 65520.0, 0x7BFF, Overflow::kSaturate},
    {DType::kFloat16, -kInf, 0xFC00},
    {DType::kFloat16, 0x1p-24, 0x0001},
    {DType::kFloat16, 0x1p-25, 0x0000},  // a tie, to the even zero
    {DType::kFloat16, 0x1.8p-25, 0x0001},
    {DType::kFloat16, 0x1.ffcp-15, 0x0400},  // subnormal rounds up to normal
    {DType::kFloat16, 1.0 + 0x1p-11, 0x3C00},
    {DType::kFloat16, 1.0 + 0x1.8p-10, 0x3C02},
    // Through float first, this would tie and round down.
    {DType::kFloat16, 1.0 + 0x1p-11 + 0x1p-40, 0x3C01},
    {DType::kBFloat16, 1.0, 0x3F80},
    {DType::kBFloat16, 3.3895313892515355e38, 0x7F7F},
    {DType::kBFloat16, 1e39, 0x7F80},
    {DType::kFloat8E4M3FN, 448.0, 0x7E},
    {DType::kFloat8E4M3FN, 464.0, 0x7E},  // a tie, to the even 448
    {DType::kFloat8E4M3FN, 465.0, 0x7F},
    {DType::kFloat8E4M3FN, kInf, 0x7F},
    {DType::kFloat8E4M3FN, kInf, 0x7E, Overflow::kSaturate},
    {DType::kFloat8E4M3FNUZ, -0.0, 0x00},
    {DType::kFloat8E4M3FNUZ, 240.0, 0x7F},
    {DType::kFloat8E4M3FNUZ, 1e9, 0x80},
    {DType::kFloat8E4M3FNUZ, -1e9, 0xFF, Overflow::kSaturate},
    {DType::kFloat8E5M2, 57344.0, 0x7B},
    {DType::kFloat8E5M2, 1e9, 0x7C},
    {DType::kFloat8E5M2FNUZ, 57344.0, 0x7F},
    {DType::kFloat4E2M1, 6.0, 0x7},
    {DType::kFloat4E2M1, -0.5, 0x9},
    {DType::kFloat4E2M1, 100.0, 0x7, Overflow::kSaturate},
    {DType::kFloat4E2M1, -kInf, 0xF},
    {DType::kFloat4E2M1, kNan, 0x7},
    {DType::kFloat4E2M1, -kNan, 0x7},
    {DType::kFloat4E2M1, 5.0, 0x6},  // a tie, to the even 4
    {DType::kFloat6E2M3, 7.5, 0x1F},
    {DType::kFloat6E3M2, 28.0, 0x1F},
    {DType::kFloat6E3M2, 0x1p-4, 0x01},
};

TEST(FloatFormat, EncodesAsTheLayoutSays) {
  for (const Conversion& row : kConversions) {
    const FloatFormat* format = FindFloatFormat(row.type);
    ASSERT_NE(format, nullptr) << row.type;
    EXPECT_EQ(format->Encode(row.value, row.overflow), row.code)
        << row.type << " of " << row.value;
  }
}

TEST(FloatFormat, EveryCodeSurvivesDecodingAndEncoding) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    const FloatFormat* format = FindFloatFormat(type);
    if (format == nullptr) continue;
    for (uint32_t code = 0; code < 1U << BitsOf(type); ++code) {
      const double value = format->Decode(code);
      if (std::isnan(value)) {
        const uint32_t back = format->Encode(value, Overflow::kPropagate);
        EXPECT_TRUE(std::isnan(format->Decode(back))) << type << ' ' << code;
      } else {
        EXPECT_EQ(format->Encode(value, Overflow::kPropagate), code) << type;
      }
    }
  }
}

TEST(FloatFormat, KeepsNanAndFindsItsOwnTypesOnly) {
  EXPECT_TRUE(std::isnan(FindFloatFormat(DType::kBFloat16)->Decode(0x7FC0)));
  EXPECT_TRUE(std::isnan(FindFloatFormat(DType::kFloat16)->Decode(0x7C01)));
  EXPECT_EQ(FindFloatFormat(DType::kFloat16)->Encode(kNan, {}), 0x7E00U);
  EXPECT_EQ(FindFloatFormat(DType::kFloat32), nullptr);
  EXPECT_EQ(FindFloatFormat(DType::kFloat8E8M0), nullptr);
  EXPECT_EQ(FindFloatFormat(DType::kInt8), nullptr);
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
  EXPECT_THAT(Decoded<int64_t>(Raw<uint8_t>(DType::kInt4, {3}, {0x8F, 0x07})),
              ElementsAre(-1, -8, 7));
  EXPECT_THAT(
      Decoded<uint64_t>(Raw<uint8_t>(DType::kUint2, {5}, {0b11100100, 0b10})),
      ElementsAre(0, 1, 2, 3, 2));
  // 6-bit elements 1, 2 and 63 cross bytes.
  EXPECT_THAT(
      Decoded<float>(Raw<uint8_t>(DType::kFloat6E2M3, {3}, {0x81, 0xF0, 0x03})),
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
    const Tensor tensor = Raw<uint8_t>(type, {count}, bytes);
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
  EXPECT_THAT(Decoded<float>(Raw<uint8_t>(DType::kFloat8E8M0, {2}, {126, 128})),
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

// Kills: a seed that is taken twice; seeds that go on after their scope, or
// instead of those around it.
TEST(Seeds, AreTakenInTheirScopeEachOnce) {
  Seeds outer(7), inner(70), again(7);
  const Seeds::Scope taking(&outer);
  const uint64_t first = NextSeed();
  {
    const Seeds::Scope within(&inner);
    EXPECT_EQ(NextSeed(), 70);
  }
  const uint64_t second = NextSeed();
  EXPECT_NE(first, second);
  EXPECT_EQ(first, again.Take());
  EXPECT_EQ(second, again.Take());
  EXPECT_EQ(Seeds::Current(), &outer);
}

TEST(Seeds, AreFreshWhereThereAreNone) {
  EXPECT_EQ(Seeds::Current(), nullptr);
  EXPECT_NE(NextSeed(), NextSeed());
}

}  // namespace
}  // namespace assay::reference
