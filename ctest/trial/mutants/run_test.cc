// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/run_test.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "framework/core/text.h"

namespace assay::harness_mutants {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKept = 1 << 20;  // characters of what a program prints

std::string CommandOf(const TestRun& run) {
  const std::string folder = run.folder.string();
  std::string command = StrCat("cd '", folder, "' && ");
  if (run.cpu_seconds > 0) {
    command += StrCat("ulimit -t ", run.cpu_seconds, " && ");
  }
  if (run.memory_mib > 0) {
    command += StrCat("ulimit -v ", run.memory_mib * int64_t{1024}, " && ");
  }
  command +=
      StrCat("TEST_TMPDIR='", folder, "' ASSAY_PROGRAM='", run.assay.string(),
             "' ASSAY_MUTANT='", run.mutant, "' timeout -k 5 ", run.seconds,
             " '", run.test.string(), "' --gtest_fail_fast --gtest_color=no");
  if (!run.filter.empty())
    command += StrCat(" '--gtest_filter=", run.filter, "'");
  return command + " 2>&1";
}

}  // namespace

TestOutput RunTest(const TestRun& run) {
  std::error_code error;
  fs::remove_all(run.folder, error);
  fs::create_directories(run.folder, error);
  std::string text;
  FILE* const pipe = popen(CommandOf(run).c_str(), "r");
  std::array<char, 4096> block;
  while (pipe != nullptr && fgets(block.data(), block.size(), pipe)) {
    if (text.size() < kKept) text += block.data();
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  fs::remove_all(run.folder, error);
  return ReadTestOutput(text, status);
}

}  // namespace assay::harness_mutants
