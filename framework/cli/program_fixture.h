// SPDX-License-Identifier: Apache-2.0
//
// The assay program from outside, for tests: a folder of the test's own, the
// program run in it, and the results of its runs.
//
//   TEST_F(ProgramTest, WrongUseIsExitCodeTwo) {
//     EXPECT_THAT(Assay("run --nonsense"), Ended(2, "--nonsense"));
//   }

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/text.h"
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

  friend void PrintTo(const Ran& ran, std::ostream* out) {
    *out << "exit code " << ran.exit_code << "\n" << ran.output;
  }
};

/// Ended with that exit code, and said all of this.
template <class... Says>
auto Ended(int exit_code, const Says&... says) {
  return testing::AllOf(
      testing::Field("exit_code", &Ran::exit_code, exit_code),
      testing::Field("output", &Ran::output,
                     testing::AllOf(testing::_, testing::HasSubstr(says)...)));
}

/// The size of the longest line.
inline size_t Widest(std::string_view text) {
  size_t widest = 0;
  while (!text.empty()) widest = std::max(widest, CutFront(&text).size());
  return widest;
}

/// Words that are refused, and part of the answer.
struct Refusal {
  std::string arguments, says;
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

  template <class... Parts>
  Ran Assay(const Parts&... arguments) const {
    return Shell(Program(), " ", arguments...);
  }

  /// A run of a backend, and more, into the folder `run`, without a page.
  template <class... Parts>
  Ran RunOf(const Parts&... backend) const {
    return Assay("run --no-report --out run --backend ", backend...);
  }

  template <class... Parts>
  Ran Shell(const Parts&... line) const {
    const std::string command =
        StrCat("cd ", folder_.string(), " && { ", line..., "; } 2>&1");
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

  /// Each of the words, behind those of the command, is wrong usage.
  void ExpectRefused(const std::string& command,
                     const std::vector<Refusal>& rows,
                     const std::string& program = Program()) const {
    for (const Refusal& row : rows) {
      EXPECT_THAT(Shell(program, " ", command, row.arguments),
                  Ended(2, row.says))
          << row.arguments;
    }
  }

  /// The outcomes of a run of one backend, or those on an instance.
  std::map<std::string, std::string> Outcomes(
      const std::string& run, const std::string& instance = "") const {
    std::map<std::string, std::string> outcomes;
    if (!std::filesystem::exists(folder_ / run / "results.csv")) return {};
    for (const record::ResultRow& row : Rows(run + "/results.csv")) {
      if (!instance.empty() && row.backend != instance) continue;
      outcomes[row.test_id] = ToString(row.outcome);
    }
    return outcomes;
  }

  /// The text of a file that has to be there.
  std::string Text(const std::filesystem::path& file) const {
    const auto text = file::ReadFile(folder_ / file);
    EXPECT_TRUE(text.ok()) << text.status().ToString();
    return text.ok() ? *text : "";
  }

  /// The rows of a table that has to be there, as "run/results.csv".
  template <class Row = record::ResultRow>
  std::vector<Row> Rows(const std::filesystem::path& file) const {
    auto rows = record::ParseCsv<Row>(Text(file));
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    return rows.ok() ? *std::move(rows) : std::vector<Row>();
  }

  /// A file of JSON; null where it is not there.
  nlohmann::json JsonIn(const std::filesystem::path& file) const {
    const auto text = file::ReadFile(folder_ / file);
    return text.ok() ? nlohmann::json::parse(*text) : nlohmann::json();
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
