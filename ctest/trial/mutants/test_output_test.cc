// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/test_output.h"

#include <gtest/gtest.h>

namespace assay::harness_mutants {
namespace {

// Kills: a run of no test, of skipped ones, or one that never ends, as green;
// a program that does not start as a killed mutant.
TEST(TestOutputTest, AKillNeedsATestAndSoDoesAGreenRun) {
  const int one = 1 << 8;  // exit code 1
  const struct {
    const char* what;
    const char* text;
    int wait_status;
    bool clean;
    bool killed;
    const char* first_failure;
  } rows[] = {
      {"green", "[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n", 0, true, false,
       ""},
      {"red", "[ RUN      ] A.b\n[  FAILED  ] A.b (0 ms)\n", one, false, true,
       "A.b"},
      {"typed",
       "[ RUN      ] A/0.b\n[  FAILED  ] A/0.b, where TypeParam = int (0 ms)\n",
       one, false, true, "A/0.b"},
      {"the first of two",
       "[ RUN      ] A.b\n[  FAILED  ] A.b (0 ms)\n"
       "[ RUN      ] A.c\n[  FAILED  ] A.c (0 ms)\n",
       one, false, true, "A.b"},
      {"crash", "[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n",
       11, false, true, "A.c"},
      {"red, but says 0", "[ RUN      ] A.b\n[  FAILED  ] A.b (0 ms)\n", 0,
       false, false, "A.b"},
      {"no test", "[==========] 0 tests ran.\n", 0, false, false, ""},
      {"skipped", "[ RUN      ] A.b\n[  SKIPPED ] A.b (0 ms)\n", 0, false,
       false, ""},
      {"does not start", "cannot open shared object\n", 127 << 8, false, false,
       ""},
  };
  for (const auto& row : rows) {
    const TestOutput output = ReadTestOutput(row.text, row.wait_status);
    EXPECT_EQ(output.Clean(), row.clean) << row.what;
    EXPECT_EQ(output.Killed(), row.killed) << row.what;
    EXPECT_EQ(output.first_failure, row.first_failure) << row.what;
  }
  const TestOutput slow = ReadTestOutput(
      "[       OK ] A.b (999 ms)\n[       OK ] A.c (1000 ms)\n", 0);
  EXPECT_EQ(slow.slow, std::vector<std::string>{"A.c"});
  EXPECT_EQ(ReadTestOutput(rows[4].text, 11).Describe(),
            "signal 11, 1 tests passed, failed: A.c");
}

}  // namespace
}  // namespace assay::harness_mutants
