// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/times/row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/testing/record/tables.h"

namespace assay::times {
namespace {

// Kills: digits that nobody measured, and that fill a disk; a count or a number
// of operations that is no longer exact.
TEST(TimeRowTest, TimesAreWrittenInFiveDigits) {
  TimeRow row;
  row.phase = "warm";
  row.min_ns = 1234.5678;
  row.median_ns = 123456.789;
  row.p99_ns = 1e9 / 3;
  row.lag1_autocorr = -0.0123456789;
  row.mean_ns = 17.25;
  row.flops = 123456789;
  row.bytes = 987654321;
  const auto read = record::ParseCsv<TimeRow>(record::ToCsv(std::vector{row}));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const TimeRow& got = read->at(0);
  EXPECT_EQ(got.min_ns, 1234.6);
  EXPECT_EQ(got.median_ns, 123460);
  EXPECT_EQ(got.p99_ns, 333330000);
  EXPECT_EQ(got.lag1_autocorr, -0.012346);
  EXPECT_EQ(got.mean_ns, 17.25);
  EXPECT_EQ(got.flops, 123456789);
  EXPECT_EQ(got.bytes, 987654321);
  EXPECT_FALSE(got.max_ns.has_value());
}

}  // namespace
}  // namespace assay::times
