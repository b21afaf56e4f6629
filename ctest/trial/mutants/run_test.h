// SPDX-License-Identifier: Apache-2.0
//
// Runs a GoogleTest program in a folder of its own, up to its first failure.
//
//   const TestOutput seen = RunTest({.folder = "work/a", .test = "a_test"});
//   if (!seen.Clean()) std::cout << seen.Describe();

#pragma once

#include <filesystem>
#include <string>

#include "ctest/trial/mutants/test_output.h"

namespace assay::harness_mutants {

struct TestRun {
  std::filesystem::path folder;  // made for the run, and removed
  std::filesystem::path test;
  std::string filter = {};           // as GoogleTest's; empty: all tests
  std::filesystem::path assay = {};  // the assay program that it may start
  std::string mutant = {};           // the one that is on; empty: none
  int seconds = 120;                 // then it is ended
  int cpu_seconds = 0;               // 0: no limit of its own
  int memory_mib = 0;                // of addresses; 0: no limit
};

TestOutput RunTest(const TestRun& run);

}  // namespace assay::harness_mutants
