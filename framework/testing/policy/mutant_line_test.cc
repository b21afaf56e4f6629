// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/mutant_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/testing/file/scratch_folder.h"

namespace assay::policy {
namespace {

using testing::HasSubstr;

TEST(MutantLineTest, ASentenceNamesMutantClassCasesAndKiller) {
  const file::ScratchFolder folder;
  folder.Write("mutants.txt",
               "# comment\n\n"
               "mutant nan of value killed by node because \"one is NaN\"\n"
               "mutant pad of pads where op:Conv or op:MaxPool killed by "
               "special because \"off by one\"\n");
  const auto lines = ReadMutantLines(folder.path());
  ASSERT_TRUE(lines.ok()) << lines.status().ToString();
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[0].where, "");
  EXPECT_EQ((*lines)[1].name, "pad");
  EXPECT_EQ((*lines)[1].kind, "pads");
  EXPECT_EQ((*lines)[1].where, "op:Conv or op:MaxPool");
  EXPECT_EQ((*lines)[1].killer, "special");
  EXPECT_EQ((*lines)[1].because, "off by one");
}

TEST(MutantLineTest, AnyOtherFormIsNamedWithItsLine) {
  const struct {
    const char* line;
    const char* says;
  } rows[] = {
      {"nan of value", "wanted mutant"},
      {"mutant nan killed by node", "wanted of"},
      {"mutant nan of value because \"x\"", "wanted killed"},
      {"mutant nan of value killed by node", "wanted because"},
      {"mutant nan of value killed by node because x", "what is wrong"},
      {"mutant nan of value killed by node because \"x\" now", "end of the"},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    folder.Write("mutants.txt", StrCat("#\n", row.line, "\n"));
    const auto lines = ReadMutantLines(folder.path());
    EXPECT_THAT(lines.status().message(), HasSubstr(row.says)) << row.line;
    EXPECT_THAT(lines.status().message(), HasSubstr("mutants.txt:2"));
  }
  const file::ScratchFolder folder;
  const std::string line = "mutant a of b killed by node because \"x\"\n";
  folder.Write("mutants.txt", line + line);
  EXPECT_THAT(ReadMutantLines(folder.path()).status().message(),
              HasSubstr("a second time"));
}

}  // namespace
}  // namespace assay::policy
