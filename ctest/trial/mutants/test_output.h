// SPDX-License-Identifier: Apache-2.0
//
// The output of a GoogleTest program: how many tests passed, which failed
// first, and in which it ended when it did not come to its end.
//
//   const TestOutput seen = ReadTestOutput(text, wait_status);
//   if (seen.Killed()) row.killing_case = seen.first_failure;

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness_mutants {

struct TestOutput {
  int wait_status = -1;  // as of waitpid
  int n_passed = 0;
  std::string first_failure;      // the test that failed, or was never left
  std::vector<std::string> slow;  // tests that passed in a second or more

  /// A green run of at least one test; a skipped test is none.
  bool Clean() const;

  /// A test failed or was never left. An ending outside of any test, as where
  /// the program does not start, says nothing about its tests.
  bool Killed() const { return wait_status != 0 && !first_failure.empty(); }

  std::string Describe() const;
};

TestOutput ReadTestOutput(std::string_view text, int wait_status);

}  // namespace assay::harness_mutants
