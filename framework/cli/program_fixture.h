// SPDX-License-Identifier: Apache-2.0
//
// The assay program from outside, for tests: a folder of the test's own, the
// program run in it, and the results of its runs.
//
//   TEST_F(ProgramTest, WrongUseIsExitCodeTwo) {
//     EXPECT_EQ(Assay("run --nonsense").exit_code, 2);
//   }

#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::cli {

/// The program of this build, or the one that the environment puts in its
/// place.
inline std::string Program() {
  const char* const other = std::getenv("ASSAY_PROGRAM");
  return other == nullptr ? ASSAY_PROGRAM : other;
}

struct Ran {
  int exit_code;
  std::string output;  // both streams
};

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              StrCat("assay_program_", getpid(), "_", info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ran Assay(const std::string& arguments) const {
    return Shell(StrCat(Program(), " ", arguments));
  }

  Ran Shell(const std::string& line) const {
    const std::string command =
        StrCat("cd ", folder_.string(), " && { ", line, "; } 2>&1");
    FILE* pipe = popen(command.c_str(), "r");
    Ran ran;
    std::array<char, 4096> block;
    while (fgets(block.data(), block.size(), pipe) != nullptr) {
      ran.output += block.data();
    }
    const int status = pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
  }

  std::map<std::string, std::string> Outcomes(const std::string& run) const {
    std::map<std::string, std::string> outcomes;
    const auto csv = file::ReadFile(folder_ / run / "results.csv");
    if (!csv.ok()) return outcomes;
    const auto rows = record::ParseCsv<record::ResultRow>(*csv);
    for (const record::ResultRow& row : *rows) {
      outcomes[row.test_id] = ToString(row.outcome);
    }
    return outcomes;
  }

  /// The reference under a policy of this test's.
  std::string ReferenceWith(const std::string& file,
                            const std::string& text) const {
    std::filesystem::create_directories(folder_ / "reference.policy");
    std::ofstream(folder_ / "reference.policy" / file) << text;
    if (!std::filesystem::exists(folder_ / "reference.so")) {
      std::filesystem::create_symlink(ASSAY_REFERENCE,
                                      folder_ / "reference.so");
    }
    return "./reference.so";
  }

  std::filesystem::path folder_;
};

}  // namespace assay::cli
