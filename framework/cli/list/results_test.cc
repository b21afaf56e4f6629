// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/tree_fixture.h"
#include "framework/testing/record/rows.h"

namespace assay::list {
namespace {

using cli::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ResultsTest : public cli::TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    Tree(
        "run --backend faulty+mutant=value --filter 'op:Abs or op:Neg' "
        "--no-report --out run");
  }

  Ran List(const std::string& arguments) const {
    return Tree("list results --run run " + arguments);
  }
};

// Kills: a filter that sees the plan and not the verdict; a row that is lost on
// the way to another program.
TEST_F(ResultsTest, AFilterTakesWhatTheRunFound) {
  const auto rows = Rows("run/results.csv");
  const auto count = [&](record::Outcome outcome, std::string_view op) {
    return std::ranges::count_if(rows, [&](const record::ResultRow& row) {
      return row.outcome == outcome && (op.empty() || row.op == op);
    });
  };
  const auto n_fail = count(record::Outcome::kFail, "");
  ASSERT_GT(n_fail, 0);
  EXPECT_THAT(List("--filter outcome:fail").output,
              AllOf(HasSubstr("fail faulty+mutant=value node/Abs/"),
                    HasSubstr(StrCat("\n", n_fail, " results: fail ", n_fail)),
                    Not(HasSubstr("pass"))));
  const auto of_abs = count(record::Outcome::kFail, "Abs");
  const Json json =
      Json::parse(List("--json --filter 'outcome:fail op:Abs'").output);
  EXPECT_EQ(std::ssize(json), of_abs);
  EXPECT_EQ(json.at(0).at("op"), "Abs");
  const auto csv = record::ParseCsv<record::ResultRow>(List("--csv").output);
  ASSERT_TRUE(csv.ok()) << csv.status().ToString();
  EXPECT_EQ(csv->size(), rows.size());
}

TEST_F(ResultsTest, SaysWhatItCannotList) {
  const struct {
    const char* arguments;
    const char* says;
  } refused[] = {
      {"--filter op:Conv", "none of "},
      {"--filter attr:axis=1", "which a run does not keep"},
      {"--filter outcome:fial", "fial"},
      {"--json --csv", "wanted one"},
  };
  for (const auto& row : refused) {
    const Ran ran = List(row.arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says));
  }
  EXPECT_EQ(Tree("list results --run nowhere").exit_code, 2);
  EXPECT_EQ(Tree("list cases --csv").exit_code, 2);
}

}  // namespace
}  // namespace assay::list
