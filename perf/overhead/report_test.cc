// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/report.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::overhead {
namespace {

times::OverheadRow RowOf(const char* test_id, double native_ns, double delta_ns,
                         int64_t added) {
  times::OverheadRow row;
  row.test_id = test_id;
  row.backend = "some";
  row.native_median_ns = native_ns;
  row.framework_median_ns = native_ns + delta_ns;
  row.paired_ratio = 1 + delta_ns / native_ns;
  row.ratio_ci95_lo = *row.paired_ratio - 0.001;
  row.ratio_ci95_hi = *row.paired_ratio + 0.001;
  row.delta_ns = delta_ns;
  row.delta_ci95_lo_ns = delta_ns - 1;
  row.delta_ci95_hi_ns = delta_ns + 1;
  row.native_instructions = 1000;
  row.framework_instructions = 1000 + added;
  return row;
}

// Kills: a limit that holds beyond itself, one about calls that it is not
// about, and an epoch that is taken for a call.
TEST(StandingOf, CountsTheCallsThatKeepEachLimit) {
  const std::vector<times::OverheadRow> rows = {
      RowOf("overhead/Relu/4", 100, 50, 200),
      RowOf("overhead/Add/4", 100, 51, 201),
      RowOf("overhead/MatMul/64", 10'000, 30, 150),
      RowOf("overhead/MatMul/128", 10'000, 41, 150),
      RowOf("overhead/epoch/lenet5#events", 1e9, 1e7, 900)};
  EXPECT_EQ(StandingOf(rows, {}),
            "at most 50 ns over the native call: 3 of 4\n"
            "  beyond: overhead/Add/4 on some, 51.0 [50.0, 52.0] ns\n"
            "at most 200 instructions over the native call: 3 of 4\n"
            "  beyond: overhead/Add/4 on some, 201 instructions\n"
            "ratio below 1.005 with 95 %, from 10 us on: 1 of 2\n"
            "  beyond: overhead/MatMul/128 on some, 1.0041 [1.0031, 1.0051]\n");
  EXPECT_EQ(CountBeyond(rows, 200), 1);
  EXPECT_EQ(CountBeyond(rows, 150), 2);
}

// Kills: a limit that counts as kept where nothing was measured.
TEST(StandingOf, SaysNothingOfLimitsThatWereNotMeasured) {
  times::OverheadRow row;
  row.test_id = "overhead/Relu/4";
  EXPECT_EQ(StandingOf({&row, 1}, {}), "");
  EXPECT_EQ(CountBeyond({&row, 1}, 0), 0);
}

// Kills: a number in the column of another, or without its interval.
TEST(TextOf, HasALineOfEachRow) {
  times::OverheadRow row = RowOf("overhead/Conv/1x5x5", 2000, 20, -3);
  row.eigen_median_ns = 1500;
  times::OverheadRow bare;
  bare.test_id = "overhead/Relu/4";
  bare.backend = "some";
  const std::vector<times::OverheadRow> rows = {row, bare};
  const std::string text = TextOf(rows);
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  const std::vector<std::string> want = {"test_id",
                                         "backend",
                                         "native",
                                         "us",
                                         "framework",
                                         "us",
                                         "ratio",
                                         "[95",
                                         "%]",
                                         "over,",
                                         "ns",
                                         "[95",
                                         "%]",
                                         "instructions",
                                         "Eigen",
                                         "us",
                                         "overhead/Conv/1x5x5",
                                         "some",
                                         "2.000",
                                         "2.020",
                                         "1.0100",
                                         "[1.0090,",
                                         "1.0110]",
                                         "20.0",
                                         "[19.0,",
                                         "21.0]",
                                         "1000",
                                         "-",
                                         "3",
                                         "1.500",
                                         "overhead/Relu/4",
                                         "some"};
  EXPECT_EQ(words, want);
}

}  // namespace
}  // namespace assay::overhead
