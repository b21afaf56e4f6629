// SPDX-License-Identifier: Apache-2.0
//
// Modules as the program meets them: by version, by file, of other builds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/tree_fixture.h"
#include "framework/testing/record/rows.h"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

class ModuleTest : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    for (const char* name :
         {"misbehaving@1.so", "misbehaving@2.so", "other.so"}) {
      std::filesystem::copy_file(ASSAY_MISBEHAVING, tree_ / "lib/assay" / name);
    }
  }

  Ran RunOn(const std::string& backend) const {
    return Tree(
        StrCat("run --filter 'op:Neg suite:node' --no-report --out run-",
               backend, " --backend ", backend));
  }
};

// Kills: a version that is parsed and dropped.
TEST_F(ModuleTest, AVersionIsOfTheFileAndOfWhatTheBackendSays) {
  EXPECT_THAT(RunOn("misbehaving@3").output,
              AllOf(HasSubstr("found no "), HasSubstr("misbehaving@3.so"),
                    HasSubstr("misbehaving@1, misbehaving@2")));
  RunOn("misbehaving@1");
  for (const auto& row : Rows("run-misbehaving@1/results.csv")) {
    EXPECT_NE(row.outcome, record::Outcome::kError) << row.message;
  }
  RunOn("misbehaving@2");
  const auto rows = Rows("run-misbehaving@2/results.csv");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    EXPECT_EQ(row.outcome, record::Outcome::kError);
    EXPECT_THAT(row.message, HasSubstr("is of version 1, wanted 2"));
  }
}

TEST_F(ModuleTest, ANameIsThatOfTheFile) {
  RunOn("other");
  EXPECT_THAT(
      Rows("run-other/results.csv"),
      Contains(Field(&record::ResultRow::message,
                     HasSubstr("registers misbehaving, wanted other"))));
}

// Kills: a module of another build that is planned with, and fails case by
// case.
TEST_F(ModuleTest, AForeignModuleIsRefusedOnce) {
  const Ran ran =
      Tree(StrCat("run --out refused --backend ", ASSAY_LOADER_TEST_MODULES,
                  "/foreign_headers.so"));
  EXPECT_EQ(ran.exit_code, 99);
  EXPECT_THAT(ran.output, HasSubstr("other headers: found 0123456789abcdef"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
}

TEST_F(ModuleTest, InspectSaysWhatAModuleIs) {
  Policy("reference", "claims.txt",
         "# A comment.\nclaim forward where op:Abs\n");
  const Ran ran = Tree("inspect reference");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  for (const char* says :
       {"lib/assay/reference.so", "Assay 0.1.0, headers ", "libstdc++",
        "isa          sse2",
        "offers       differentiable, placement, exact; by Relu",
        "library      /", "claims       claim forward where op:Abs",
        "claims.txt: 1 line\n"}) {
    EXPECT_THAT(ran.output, HasSubstr(says));
  }
  const Json json = Json::parse(Tree("inspect reference --json").output);
  EXPECT_EQ(json.at("name"), "reference");
  EXPECT_EQ(json.at("policy").at("claims.txt"), 1);
  EXPECT_EQ(json.at("cannot_run"), "");

  const Ran other = Tree("inspect tree/lib/assay/other.so");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.output,
              AllOf(HasSubstr("cannot run"), Not(HasSubstr("offers"))));
  const Ran foreign =
      Tree(StrCat("inspect ", ASSAY_LOADER_TEST_MODULES, "/empty.so"));
  EXPECT_THAT(foreign.output, HasSubstr("registers no backend"));
  EXPECT_THAT(Tree("inspect nowhere").output, HasSubstr("no backend nowhere"));
}

}  // namespace
}  // namespace assay::cli
