// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/operator_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "framework/cli/program_fixture.h"
#include "framework/testing/record/tables.h"

namespace assay::list {
namespace {

using ::testing::HasSubstr;

class OperatorResultsTest : public cli::ProgramTest {
 protected:
  struct Case {
    const char* id;
    const char* op;
    const char* backend;
    record::Outcome outcome;
    bool claimed;
    const char* reason;
    std::optional<double> ulp, headroom;
  };

  /// The tables of a run.
  void Write(const std::vector<Case>& cases) const {
    std::vector<record::ResultRow> results;
    std::vector<record::PlanRow> plan;
    std::vector<record::AccuracyRow> accuracy;
    for (const Case& c : cases) {
      record::ResultRow& result = results.emplace_back();
      result.test_id = c.id;
      result.backend = c.backend;
      result.op = c.op;
      result.outcome = c.outcome;
      result.reason_code = c.reason;
      result.headroom = c.headroom;
      result.load_us = 1000;
      result.run_us = 500;
      record::PlanRow& planned = plan.emplace_back();
      planned.test_id = c.id;
      planned.backend = c.backend;
      planned.op = c.op;
      planned.claimed = c.claimed;
      record::AccuracyRow& output = accuracy.emplace_back();
      output.test_id = c.id;
      output.backend = c.backend;
      output.reference = "expected";
      output.max_ulp = c.ulp;
      accuracy.push_back(output);
      accuracy.back().reference = "oracle";
      accuracy.back().max_ulp = 1e9;
    }
    std::ofstream(folder_ / "results.csv") << record::ToCsv(results);
    std::ofstream(folder_ / "plan.csv") << record::ToCsv(plan);
    std::ofstream(folder_ / "accuracy.csv") << record::ToCsv(accuracy);
  }
};

// Kills: a pass that nobody claims counted as claimed; the best number for the
// worst; distances to an oracle among those that were judged; a case of another
// backend.
TEST_F(OperatorResultsTest, CountsEachOperatorOnEachBackend) {
  using record::Outcome;
  Write({{"a/Add/1", "Add", "x", Outcome::kPass, true, "", 2, 0.5},
         {"a/Add/2", "Add", "x", Outcome::kFail, true, "value", 7, -3},
         {"a/Add/3", "Add", "x", Outcome::kPass, false, "", {}, 1},
         {"a/Add/1", "Add", "y", Outcome::kUnsupported, false, "dtype", {}, {}},
         {"a/Add/2", "Add", "y", Outcome::kUnsupported, false, "opset", {}, {}},
         {"a/Add/3", "Add", "y", Outcome::kUnsupported, false, "opset", {}, {}},
         {"a/Neg/1", "Neg", "x", Outcome::kPass, false, "", 0, {}}});
  const std::string head =
      "op,backend,planned,pass,claimed,claimed_pass,unsupported,why,max_ulp,"
      "headroom,time_us\n";
  const std::string add_x = "Add,x,3,2,2,1,0,,7,-3,4500\n";
  const std::string add_y = "Add,y,3,0,0,0,3,\"opset 2, dtype 1\",,,4500\n";
  const std::string neg_x = "Neg,x,1,1,0,0,0,,0,,1500\n";
  const struct {
    const char* filter;
    std::string rows;
  } rows[] = {
      {"", add_x + add_y + neg_x},
      {"backend:y", add_y},
      {"op:Neg or outcome:fail", "Add,x,1,0,1,0,0,,7,-3,1500\n" + neg_x}};
  for (const auto& row : rows) {
    const auto found = OperatorsOf(folder_, row.filter);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(OperatorsCsv(*found), head + row.rows) << row.filter;
  }
  EXPECT_EQ(
      OperatorsText(*OperatorsOf(folder_, "")),
      "operator  backend  pass  claimed  unsupported  ulp  headroom   ms  "
      "why\n"
      "Add       x         2/3      1/2                 7        -3  4.5\n"
      "Add       y         0/3                     3                 4.5  "
      "opset 2, dtype 1\n"
      "Neg       x         1/1                          0            1.5\n");
}

TEST_F(OperatorResultsTest, SaysWhatItCannotList) {
  EXPECT_THAT(OperatorsOf(folder_ / "none", "").status().ToString(),
              HasSubstr("results.csv"));
  EXPECT_THAT(OperatorsOf(folder_, "opp:Add").status().ToString(),
              HasSubstr("found the key 'opp'"));
}

}  // namespace
}  // namespace assay::list
