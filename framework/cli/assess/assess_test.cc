// SPDX-License-Identifier: Apache-2.0
//
// Whose mutants assay assess tries.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/cli/assess/kill_matrix.h"
#include "framework/cli/tree_fixture.h"
#include "framework/core/status.h"

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
    EXPECT_THAT(Tree("assess --repeats 0 ", row.arguments),
                cli::Ended(2, row.says))
        << row.what;
  }
}

using testing::ElementsAre;
using testing::IsEmpty;

record::ResultRow Row(const std::string& test_id, const std::string& outcome,
                      const std::string& message = "") {
  record::ResultRow row;
  row.test_id = test_id;
  row.suite = test_id.substr(0, test_id.find('/'));
  row.outcome = *record::ParseOutcome(outcome);
  row.message = message;
  return row;
}

// Kills: a case that fails without the mutant too taken for a kill; a mutant
// that declines taken for one that is seen; a kill by any suite taken for one
// by the suite that should have seen it; a second run's kill given to the
// first.
TEST(KillMatrixTest, OnlyWhatPassesWithoutAMutantCanKillIt) {
  const struct {
    const char* killer;
    record::ResultRow row;
    const char* survivor;  // part of what is said; empty: it is killed
  } rows[] = {
      {"node", Row("node/A/a", "fail"), ""},
      {"node", Row("node/A/a", "crash"), ""},
      {"node", Row("node/A/a", "pass"), "not killed by node"},
      {"node", Row("node/A/a", "unsupported"), "not killed by node"},
      {"node", Row("node/A/a", "missing"), "not killed by node"},
      {"node", Row("node/A/broken", "fail"), "not killed by node"},
      {"special", Row("node/A/a", "fail"), "only node by node/A/a"},
      {"node", Row("node/A/a", "suspect"), "only recheck"},
      {"recheck", Row("node/A/a", "fail", "data set 1: run again: x"), ""},
      {"node", Row("node/A/a", "fail", "run again: x"), "only recheck"},
  };
  for (const auto& row : rows) {
    KillMatrix matrix({"node/A/a"});
    matrix.Add({"m", "class", "", row.killer, "because"}, {row.row});
    const std::string what = StrCat(row.killer, " ", row.row.outcome);
    if (row.survivor[0] == '\0') {
      EXPECT_THAT(matrix.Survivors(), IsEmpty()) << what;
      EXPECT_TRUE(matrix.Rows().at(0).killed) << what;
    } else {
      EXPECT_THAT(matrix.Survivors(), ElementsAre(HasSubstr(row.survivor)))
          << what;
    }
  }
}

TEST(KillMatrixTest, TheTableFitsATerminalAndCounts) {
  KillMatrix matrix({"node/A/a", "node/A/b", "special/A/a"});
  matrix.Add({"seen", "one", "", "node", ""},
             {Row("node/A/a", "fail"), Row("node/A/b", "error"),
              Row("special/A/a", "pass")});
  matrix.Add({"unseen", "two", "", "special", ""}, {});
  matrix.Add({"special", "two", "", "special", ""},
             {Row("special/A/a", "fail")});
  EXPECT_EQ(matrix.n_classes(), 2U);
  // Suites that saw none have no column.
  EXPECT_THAT(matrix.Text(), HasSubstr("node  special\n"));
  EXPECT_THAT(matrix.Text(),
              HasSubstr("seen                             2        -\n"));
  EXPECT_FALSE(matrix.Rows()[1].killed);
  EXPECT_LE(cli::Widest(matrix.Text()), 80U);
}

}  // namespace
}  // namespace assay::assess
