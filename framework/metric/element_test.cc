// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/element.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "framework/testing/support/tensors_fixture.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

// Per type: one, minus a number, the smallest subnormal, the smallest normal,
// the largest number, and what stands beyond it. Values from the texts that
// element.h names.
TEST(ElementTest, EveryFloatTypeDecodesExactly) {
  using enum DType;
  const struct {
    DType type;
    uint64_t bits;
    double value;
  } rows[] = {
      {kFloat64, 0x3FF0000000000000, 1},
      {kFloat64, 0xFFF0000000000000, -kInf},
      {kFloat32, 0x3F800000, 1},
      {kFloat32, 0x80000001, -0x1p-149},
      {kFloat32, 0x7FC00000, kNan},
      {kFloat16, 0x3C00, 1},
      {kFloat16, 0xC500, -5},
      {kFloat16, 0x0001, 0x1p-24},
      {kFloat16, 0x03FF, 1023 * 0x1p-24},
      {kFloat16, 0x0400, 0x1p-14},
      {kFloat16, 0x7BFF, 65504},
      {kFloat16, 0xFC00, -kInf},
      {kFloat16, 0x7C01, kNan},
      {kBFloat16, 0x3F80, 1},
      {kBFloat16, 0x0001, 0x1p-133},
      {kBFloat16, 0x7F80, kInf},
      {kBFloat16, 0x7F81, kNan},
      {kFloat8E4M3FN, 0x38, 1},
      {kFloat8E4M3FN, 0x01, 0x1p-9},
      {kFloat8E4M3FN, 0xFE, -448},
      {kFloat8E4M3FN, 0x7F, kNan},
      {kFloat8E4M3FN, 0xFF, kNan},
      {kFloat8E4M3FNUZ, 0x40, 1},
      {kFloat8E4M3FNUZ, 0x01, 0x1p-10},
      {kFloat8E4M3FNUZ, 0x7F, 240},
      {kFloat8E4M3FNUZ, 0x80, kNan},
      {kFloat8E5M2, 0x3C, 1},
      {kFloat8E5M2, 0x01, 0x1p-16},
      {kFloat8E5M2, 0x7B, 57344},
      {kFloat8E5M2, 0xFC, -kInf},
      {kFloat8E5M2, 0x7D, kNan},
      {kFloat8E5M2FNUZ, 0x40, 1},
      {kFloat8E5M2FNUZ, 0x01, 0x1p-17},
      {kFloat8E5M2FNUZ, 0x7F, 57344},
      {kFloat8E5M2FNUZ, 0x80, kNan},
      {kFloat8E8M0, 0x00, 0x1p-127},
      {kFloat8E8M0, 0x7F, 1},
      {kFloat8E8M0, 0xFE, 0x1p127},
      {kFloat8E8M0, 0xFF, kNan},
      {kFloat6E2M3, 0x08, 1},
      {kFloat6E2M3, 0x01, 0.125},
      {kFloat6E2M3, 0x1F, 7.5},
      {kFloat6E2M3, 0x3F, -7.5},
      {kFloat6E3M2, 0x0C, 1},
      {kFloat6E3M2, 0x01, 0.0625},
      {kFloat6E3M2, 0x1F, 28},
      {kFloat6E3M2, 0x2C, -1},
      {kFloat4E2M1, 0x2, 1},
      {kFloat4E2M1, 0x1, 0.5},
      {kFloat4E2M1, 0x7, 6},
      {kFloat4E2M1, 0xF, -6},
      {kInt32, 1, kNan},
  };
  for (const auto& row : rows) {
    const double value = DecodeFloat(row.type, row.bits);
    if (std::isnan(row.value)) {
      EXPECT_TRUE(std::isnan(value)) << row.type << " " << row.bits;
    } else {
      EXPECT_EQ(value, row.value) << row.type << " " << row.bits;
    }
  }
}

TEST(ElementTest, MinusZeroKeepsItsSign) {
  using enum DType;
  for (const auto& [type, bits] :
       std::vector<std::pair<DType, uint64_t>>{{kFloat64, uint64_t{1} << 63},
                                               {kFloat32, 0x80000000},
                                               {kFloat16, 0x8000},
                                               {kBFloat16, 0x8000},
                                               {kFloat8E4M3FN, 0x80},
                                               {kFloat8E5M2, 0x80},
                                               {kFloat6E2M3, 0x20},
                                               {kFloat6E3M2, 0x20},
                                               {kFloat4E2M1, 0x8}}) {
    EXPECT_EQ(DecodeFloat(type, bits), 0) << type;
    EXPECT_TRUE(std::signbit(DecodeFloat(type, bits))) << type;
  }
}

// float16 takes a short cut that the description of the format does not.
TEST(ElementTest, EveryFloat16DecodesAsItsFormatSays) {
  const FloatFormat format = {5, 10, 15, FloatFormat::Top::kIeee};
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double fast = DecodeFloat16(static_cast<uint16_t>(bits));
    const double plain = DecodeSmallFloat(format, bits);
    ASSERT_EQ(std::isnan(fast), std::isnan(plain)) << bits;
    if (!std::isnan(plain)) {
      ASSERT_EQ(fast, plain) << bits;
      ASSERT_EQ(std::signbit(fast), std::signbit(plain)) << bits;
    }
  }
}

// Kills: a greatest number, or the spacing of numbers, taken for another
// type's.
TEST(ElementTest, RangesAreThoseOfTheNumbers) {
  using enum DType;
  for (const DType type :
       {kFloat16, kBFloat16, kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2,
        kFloat8E5M2FNUZ, kFloat8E8M0, kFloat6E2M3, kFloat6E3M2, kFloat4E2M1}) {
    double greatest = 0;
    double above_one = 2;
    double least = 1;
    for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
      const double x = DecodeFloat(type, bits);
      if (std::isfinite(x)) greatest = std::max(greatest, x);
      if (x > 1) above_one = std::min(above_one, x);
      if (x > 0) least = std::min(least, x);
    }
    const FloatRange range = RangeOf(type);
    EXPECT_EQ(range.greatest, greatest) << type;
    EXPECT_EQ(std::ldexp(1, -range.digits), above_one - 1) << type;
    EXPECT_EQ(std::ldexp(1, range.least - range.digits), least) << type;
    EXPECT_EQ(range.saturates, BitsOf(type) <= 8) << type;
  }
}

TEST(ElementTest, BitsOfPackedElementsAreTakenLowestFirst) {
  const struct {
    DType type;
    std::vector<uint8_t> bytes;
    std::vector<uint64_t> elements;
  } rows[] = {
      {DType::kUint2, {0b11100100, 0b01}, {0, 1, 2, 3, 1}},
      {DType::kInt4, {0x21, 0xF3, 0x05}, {1, 2, 3, 15, 5}},
      // 6 bits: 000001, 100010, 001111, 111100, and one more.
      {DType::kFloat6E2M3, {0x81, 0xF8, 0xF0, 0x2A}, {1, 34, 15, 60, 42}},
      {DType::kUint8, {7, 255}, {7, 255}},
      {DType::kFloat16, {0x34, 0x12, 0x78, 0x56}, {0x1234, 0x5678}},
  };
  for (const auto& row : rows) {
    const auto bytes = std::as_bytes(std::span(row.bytes));
    for (size_t i = 0; i < row.elements.size(); ++i) {
      EXPECT_EQ(ElementBits(row.type, bytes.data(), static_cast<int64_t>(i)),
                row.elements[i])
          << row.type << " element " << i;
    }
  }
}

uint64_t F32(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t F64(double value) { return std::bit_cast<uint64_t>(value); }

TEST(UlpTest, DistanceCountsRepresentableNumbers) {
  using enum DType;
  constexpr float kMax32 = std::numeric_limits<float>::max();
  constexpr double kMax64 = std::numeric_limits<double>::max();
  const struct {
    DType type;
    uint64_t a, b;
    uint64_t distance;
  } rows[] = {
      {kFloat32, F32(1), F32(1), 0},
      {kFloat32, F32(1), F32(std::nextafter(1.0F, 2.0F)), 1},
      {kFloat32, F32(1), F32(std::nextafter(1.0F, 0.0F)), 1},
      {kFloat32, F32(0), F32(-0.0F), 0},
      {kFloat32, F32(0x1p-149F), F32(-0x1p-149F), 2},
      {kFloat32, F32(1), F32(2), 1 << 23},
      {kFloat32, F32(-1), F32(1), 2 * (127ULL << 23)},
      {kFloat32, F32(kMax32), F32(-kMax32), 2 * 0x7F7FFFFFULL},
      {kFloat64, F64(0), F64(-0.0), 0},
      {kFloat64, F64(3), F64(std::nextafter(3.0, 4.0)), 1},
      {kFloat64, F64(-5e-324), F64(5e-324), 2},
      // More than a signed 64-bit integer holds.
      {kFloat64, F64(kMax64), F64(-kMax64), 2 * 0x7FEFFFFFFFFFFFFFULL},
      {kFloat16, 0x3C00, 0x3C02, 2},
      {kFloat16, 0x8001, 0x0001, 2},
      {kBFloat16, 0x3F80, 0x3F7F, 1},
      {kBFloat16, 0x8001, 0x0001, 2},
      {kFloat8E4M3FN, 0x81, 0x02, 3},
      {kFloat8E8M0, 0x7F, 0x82, 3},
      {kFloat8E8M0, 0x00, 0xFE, 254},
      {kFloat6E2M3, 0x3F, 0x1F, 62},
      {kFloat4E2M1, 0x9, 0x1, 2},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(UlpDistance(row.type, row.a, row.b), row.distance)
        << row.type << " " << row.a << " " << row.b;
    EXPECT_EQ(UlpDistance(row.type, row.b, row.a), row.distance)
        << row.type << " " << row.b << " " << row.a;
  }
}

// In every type of at most 16 bits, keys grow with values and by one from a
// value to the next.
TEST(UlpTest, KeysOrderAllValuesWithoutGaps) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const DType type = *DTypeFromOnnx(number);
    if (!IsFloatingPoint(type) || BitsOf(type) > 16) continue;
    std::vector<std::pair<double, int64_t>> values;
    for (uint64_t bits = 0; bits < (1ULL << BitsOf(type)); ++bits) {
      const double value = DecodeFloat(type, bits);
      if (std::isfinite(value)) {
        values.emplace_back(value, OrderedKey(type, bits));
      }
    }
    std::ranges::sort(values);
    for (size_t i = 1; i < values.size(); ++i) {
      const int64_t step = values[i].first == values[i - 1].first ? 0 : 1;
      ASSERT_EQ(values[i].second - values[i - 1].second, step)
          << type << " at " << values[i].first;
    }
  }
}

UlpSummary SummaryOf(const std::vector<int64_t>& steps) {
  UlpTally tally(static_cast<int64_t>(steps.size()));
  for (const int64_t step : steps) tally.Add(step, 0);
  return tally.Summarize();
}

TEST(UlpTest, SummaryOfAFewDistances) {
  const struct {
    std::vector<int64_t> steps;
    double max, p50, p99, mean_signed, share_zero;
  } rows[] = {
      {{0}, 0, 0, 0, 0, 1},
      {{-3}, 3, 3, 3, -3, 0},
      {{0, 0, 0, 4}, 4, 0, 4, 1, 0.75},
      {{1, -1, 2, -2}, 2, 1, 2, 0, 0},
      {{5, 0}, 5, 0, 5, 2.5, 0.5},
  };
  for (const auto& row : rows) {
    const UlpSummary summary = SummaryOf(row.steps);
    const auto n = row.steps.size();
    EXPECT_EQ(summary.max, row.max) << n;
    EXPECT_EQ(summary.p50, row.p50) << n;
    EXPECT_EQ(summary.p99, row.p99) << n;
    EXPECT_EQ(summary.mean_signed, row.mean_signed) << n;
    EXPECT_EQ(summary.share_zero, row.share_zero) << n;
  }
}

TEST(UlpTest, QuantilesAreThoseOfASort) {
  std::mt19937_64 random(1);
  for (const size_t n : {1, 2, 3, 10, 99, 100, 101, 999, 1000, 1001, 20000}) {
    for (const int64_t spread : {2, 50, 1000000}) {
      std::vector<int64_t> steps(n);
      for (int64_t& step : steps) {
        step = static_cast<int64_t>(random() % static_cast<uint64_t>(spread)) -
               spread / 2;
      }
      const UlpSummary summary = SummaryOf(steps);
      for (int64_t& step : steps) step = std::abs(step);
      std::ranges::sort(steps);
      const auto at = [&](size_t thousandths) {
        return static_cast<double>(steps[(n * thousandths + 999) / 1000 - 1]);
      };
      EXPECT_EQ(summary.p50, at(500)) << n << " " << spread;
      EXPECT_EQ(summary.p99, at(990)) << n << " " << spread;
      EXPECT_EQ(summary.p999, at(999)) << n << " " << spread;
      EXPECT_EQ(summary.max, at(1000)) << n << " " << spread;
    }
  }
}

}  // namespace
}  // namespace assay::metric
