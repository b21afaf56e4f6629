// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/ulp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "framework/metric/element.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

uint64_t F32(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t F64(double value) { return std::bit_cast<uint64_t>(value); }

TEST(UlpTest, DistanceCountsRepresentableNumbers) {
  using enum DType;
  constexpr float kMax32 = std::numeric_limits<float>::max();
  constexpr double kMax64 = std::numeric_limits<double>::max();
  struct Row {
    DType type;
    uint64_t a, b;
    uint64_t distance;
  };
  const std::vector<Row> rows = {
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
  for (const Row& row : rows) {
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
  struct Row {
    std::vector<int64_t> steps;
    double max, p50, p99, mean_signed, share_zero;
  };
  const std::vector<Row> rows = {
      {{0}, 0, 0, 0, 0, 1},
      {{-3}, 3, 3, 3, -3, 0},
      {{0, 0, 0, 4}, 4, 0, 4, 1, 0.75},
      {{1, -1, 2, -2}, 2, 1, 2, 0, 0},
      {{5, 0}, 5, 0, 5, 2.5, 0.5},
  };
  for (const Row& row : rows) {
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
