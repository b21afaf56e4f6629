// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/mutants_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "framework/file/build_id.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"

namespace assay::verdict {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

record::MutantRow RowOf(const std::string& name, const std::string& suite,
                        bool killed, const std::string& build_id = "this") {
  record::MutantRow row;
  row.mutant = name;
  row.suite = suite;
  row.killed = killed;
  row.build_id = build_id;
  return row;
}

// Kills: rows counted in the place of mutants; a survivor that one suite of
// several missed; another build's rows, or no row at all, as 100 %; a harness
// that nobody assessed as one without survivors; a sample as the whole list.
TEST(MutantsTableTest, MutantsAreCountedOnceAndOfThisBuild) {
  const struct {
    std::vector<record::MutantRow> rows;
    std::string sentence;
  } cases[] = {
      {{RowOf("a", "node", true), RowOf("b", "harness", true)},
       "2 of 2 killed (1 backend, 1 harness)"},
      {{RowOf("a", "node", true), RowOf("a", "special", false)},
       "1 of 1 killed (1 backend, harness not assessed)"},
      {{RowOf("a", "node", true), RowOf("a", "harness", false)},
       "1 of 2 killed (1 backend, 0 harness); not killed: a"},
      {{RowOf("c", "node", false), RowOf("b", "node", false)},
       "0 of 2 killed (0 backend, harness not assessed); not killed: b, c"},
      {{RowOf("a", "node", true), RowOf("b", "node", true, "other")},
       "not assessed: mutants.csv is of another build"},
      {{}, "not assessed: mutants.csv has no mutants"},
      {{RowOf("a", "node", true), RowOf("b", "node", false, ""),
        RowOf("c", "harness", false, "")},
       "sample 1 of 1 killed on this build (1 backend, harness not assessed), "
       "whole list of 3: no green night"},
      {{RowOf("a", "node", false, "")},
       "not assessed: no mutant was tried on this build"},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(CountMutants(row.rows, "this").Sentence(), row.sentence);
  }
}

// Kills: the rate of the whole suites beside a selection that saw none of it;
// mutants of the harness, which no case sees, taken for unseen.
TEST(MutantsTableTest, ASelectionHasTheRateOfItsOwnCases) {
  std::vector<record::MutantRow> rows = {
      RowOf("a", "node", true), RowOf("a", "special", true),
      RowOf("b", "node", true), RowOf("c", "node", false),
      RowOf("a", "harness", true)};
  rows[0].killing_case = "node/Abs/one";
  rows[1].killing_case = "special/Abs/two";
  rows[2].killing_case = "node/Neg/three";
  const struct {
    std::set<std::string> ran;
    std::string sentence;
    int64_t killed;
  } cases[] = {
      {{"node/Abs/one", "node/Neg/three"},
       "3 of 4 killed (2 backend, 1 harness); not killed: c",
       3},
      {{"special/Abs/two"},
       "at least 2 of 4 killed by the cases of this run (1 backend, 1 "
       "harness); whole suites kill 3; not killed: c",
       2},
      {{"mine/Abs/one"},
       "at least 1 of 4 killed by the cases of this run (0 backend, 1 "
       "harness); whole suites kill 3; not killed: c",
       1},
  };
  for (const auto& row : cases) {
    const MutantKills kills = CountMutants(rows, "this", &row.ran);
    EXPECT_EQ(kills.Sentence(), row.sentence);
    EXPECT_EQ(kills.killed(), row.killed);
    EXPECT_EQ(kills.killed_by_all(), 3);
  }
}

TEST(MutantsTableTest, ASentenceNamesFiveSurvivors) {
  std::vector<record::MutantRow> rows;
  const auto sentence = [&](std::initializer_list<const char*> more) {
    for (const char* name : more) rows.push_back(RowOf(name, "node", false));
    return CountMutants(rows, "this").Sentence();
  };
  EXPECT_THAT(sentence({"a", "b", "c", "d", "e"}),
              EndsWith("not killed: a, b, c, d, e"));
  EXPECT_THAT(sentence({"f", "g"}),
              EndsWith("not killed: a, b, c, d, e and 2 more"));
}

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() {
    for (const char* file : {"bin/assay", "bin/assay-host", "bin/assay-worker",
                             "lib/libassay_core.so"}) {
      folder_.Write(file, file);
    }
  }

  void WriteTable(const std::string& build_id) {
    folder_.Write(
        "share/assay/mutants.csv",
        record::ToCsv(std::vector{RowOf("a", "node", true, build_id)}));
  }

  std::string Read() const { return ReadMutants(folder_.path()).Sentence(); }

  file::ScratchFolder folder_;
};

// Kills: a program of four that the digest leaves out; a table kept for a
// build that was made anew.
TEST_F(InstallationTest, ATableIsOfTheBuildThatItsProgramsAre) {
  const std::string id = *file::BuildId(folder_.path());
  WriteTable(id);
  EXPECT_EQ(Read(), "1 of 1 killed (1 backend, harness not assessed)");
  for (const char* file : {"bin/assay", "bin/assay-host", "bin/assay-worker",
                           "lib/libassay_core.so"}) {
    folder_.Write(file, "made anew");
    EXPECT_EQ(Read(), "not assessed: mutants.csv is of another build") << file;
    folder_.Write(file, file);
    EXPECT_EQ(*file::BuildId(folder_.path()), id);
  }
}

TEST_F(InstallationTest, WithoutASoundTableTheHarnessIsNotAssessed) {
  EXPECT_EQ(Read(), "not assessed: no mutants.csv of this build");
  folder_.Write("share/assay/mutants.csv", "mutant,nonsense\na,b\n");
  EXPECT_THAT(Read(), HasSubstr("not assessed: mutants.csv: "));
  WriteTable("x");
  std::filesystem::remove(folder_.path() / "bin/assay-worker");
  EXPECT_THAT(Read(), HasSubstr("bin/assay-worker"));
}

}  // namespace
}  // namespace assay::verdict
