// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/run_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"

namespace assay::converge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SeededRuns Runs(const std::string& run) {
  return {run,
          "digits",
          {.model = "mlp", .accuracy = 0.9},
          {{true, 640, 0.9125}, {false, 80000, 0.25}, {true, 1280, 0.9}}};
}

TEST(RunTableTest, ComesBack) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "convergence.csv";
  const std::vector<SeededRuns> all = {Runs("a:adam/keras:rate=0.1 beta1=0.5"),
                                       Runs("b, c")};
  ASSERT_TRUE(WriteRunTable(path, all).ok());
  const auto read = ReadRunTable(path);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].run, all[i].run);
    EXPECT_TRUE(CheckComparable((*read)[i], all[i]).ok());
    EXPECT_THAT((*read)[i].Samples(), ElementsAre(640, 1280));
    EXPECT_EQ((*read)[i].seeds[1].accuracy, 0.25);
  }
}

TEST(RunTableTest, SaysWhatIsWrong) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "convergence.csv";
  EXPECT_EQ(ReadRunTable(path).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteRunTable(path, std::vector{Runs("a")}).ok());
  const std::string whole = *file::ReadFile(path);
  const struct {
    std::string text;
    const char* says;
  } rows[] = {
      {"seed,samples\n0,640\n", "found the columns 'seed,samples', wanted"},
      {whole.substr(0, whole.find('\n') + 1), "found no rows"},
      {whole.substr(0, whole.size() - 8), "convergence.csv:4: wanted a row"},
      {whole + "a,mlp,digits,64,10,20,0.9,7,1,1,1\n", ":5: wanted a row of 11"},
      {whole + "a,mlp,digits,64,x,20,0.9,3,1,1,1\n", ":5: wanted a row of 11"},
  };
  for (const auto& row : rows) {
    ASSERT_TRUE(file::WriteFile(path, row.text).ok());
    const auto read = ReadRunTable(path);
    EXPECT_EQ(read.status().code(), StatusCode::kDataLoss);
    EXPECT_THAT(read.status().message(), HasSubstr(row.says));
  }
  SeededRuns other = Runs("b");
  other.goal.batch = 32;
  EXPECT_THAT(CheckComparable(Runs("a"), other).message(),
              HasSubstr("b: found mlp on digits in batches of 32 to 0.9"));
}

}  // namespace
}  // namespace assay::converge
