// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/progress.h"

#include <gtest/gtest.h>

namespace assay::run {
namespace {

// Kills: a line that is wider than the terminal, which leaves a line for each
// update; a count of cases that gives way to anything.
TEST(ProgressTest, TheLineFitsTheTerminal) {
  const struct {
    supervise::Progress now;
    double left_s;
    size_t columns;
    const char* text;
  } rows[] = {
      {{0, 8, 0}, -1, 27, "[            ] 0 of 8 cases"},
      {{5, 10, 0}, -1, 26, "[#####     ] 5 of 10 cases"},
      {{10, 10, 0}, -1, 27, "[##########] 10 of 10 cases"},
      {{5, 10, 2},
       12.4,
       60,
       "[#########          ] 5 of 10 cases, 2 unexpected, 12 s left"},
      {{5, 10, 2}, 12.4, 36, "5 of 10 cases, 2 unexpected"},
      {{5, 10, 2}, 12.4, 26, "5 of 10 cases, 12 s left"},
      {{5, 10, 2}, 12.4, 15, "5 of 10 cases"},
      {{5, 10, 2}, 12.4, 7, "5 of 10"},
      {{1, 2, 0}, 700, 38, "[#####     ] 1 of 2 cases, 12 min left"},
      {{1, 2, 0}, 7200, 22, "1 of 2 cases, 2 h left"},
  };
  for (const auto& row : rows) {
    const std::string text = ProgressText(row.now, row.left_s, row.columns);
    EXPECT_LE(text.size(), row.columns) << text;
    EXPECT_EQ(text, row.text) << row.columns;
  }
}

}  // namespace
}  // namespace assay::run
