// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

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

}  // namespace
}  // namespace assay::reference
