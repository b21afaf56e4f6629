// SPDX-License-Identifier: Apache-2.0
//
// Whose mutants assay assess tries.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/cli/tree_fixture.h"

namespace assay::assess {
namespace {

using testing::HasSubstr;

class AssessTest : public cli::TreeTest {};

// Kills: a default by name, the first of several, any backend with a policy.
TEST_F(AssessTest, EachBackendWithMutantsIsTheDefault) {
  const struct {
    const char* what;
    std::vector<const char*> with_mutants;
    const char* arguments;
    const char* says;
  } rows[] = {
      {"none", {}, "", "found no backend with a mutants.txt in "},
      {"one", {"misbehaving"}, "", "misbehaving.policy/mutants.txt:1: "},
      {"another", {"reference"}, "", "reference.policy/mutants.txt:1: "},
      {"two",
       {"misbehaving", "reference"},
       "",
       "misbehaving.policy/mutants.txt:1: "},
      {"two, and one named",
       {"misbehaving", "reference"},
       "--backend reference",
       "reference.policy/mutants.txt:1: "},
  };
  Policy("reference", "claims.txt", "claim forward where op:Abs\n");
  for (const auto& row : rows) {
    for (const char* name : {"misbehaving", "reference"}) {
      std::filesystem::remove(tree_ / "lib/assay" /
                              StrCat(name, ".policy/mutants.txt"));
    }
    // A line that is refused shows whose list was read.
    for (const char* name : row.with_mutants) {
      Policy(name, "mutants.txt", "no mutant\n");
    }
    const cli::Ran ran = Tree(StrCat("assess --repeats 0 ", row.arguments));
    EXPECT_EQ(ran.exit_code, 2) << row.what << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.what;
  }
}

}  // namespace
}  // namespace assay::assess
