// SPDX-License-Identifier: Apache-2.0
//
// The lists of results and of coverage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "framework/cli/list/coverage.h"
#include "framework/cli/list/results.h"
#include "framework/cli/tree_fixture.h"
#include "framework/graph/model_text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::list {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

using cli::Ran;

class ResultsTest : public cli::TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    TreeRunOf("faulty+mutant=value --repeats 0 --filter 'op:Abs or op:Neg'");
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
  const auto csv =
      Got(record::ParseCsv<record::ResultRow>(List("--csv").output));
  EXPECT_EQ(csv.size(), rows.size());
}

TEST_F(ResultsTest, SaysWhatItCannotList) {
  ExpectTreeRefuses(
      "list ",
      {{"results --run run --filter op:Conv", "none of "},
       {"results --run run --filter attr:axis=1", "which a run does not keep"},
       {"results --run run --filter outcome:fial", "fial"},
       {"results --run run --json --csv", "wanted one"},
       {"results --run nowhere", ""},
       {"cases --csv", ""}});
}

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
    int64_t nan = 0;
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
      result.judge_us = 70;
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
      output.nan_mismatch = c.nan;
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
// backend; the judge's time for the backend's.
TEST_F(OperatorResultsTest, CountsEachOperatorOnEachBackend) {
  using record::Outcome;
  Write({{"a/Add/1", "Add", "x", Outcome::kPass, true, "", 2, 0.5},
         {"a/Add/2", "Add", "x", Outcome::kFail, true, "value", 7, -3},
         {"a/Add/3", "Add", "x", Outcome::kPass, false, "", {}, 1},
         {"a/Add/1", "Add", "y", Outcome::kUnsupported, false, "dtype", {}, {}},
         {"a/Add/2", "Add", "y", Outcome::kUnsupported, false, "opset", {}, {}},
         {"a/Add/3", "Add", "y", Outcome::kUnsupported, false, "opset", {}, {}},
         {"a/Exp/1", "Exp", "x", Outcome::kFail, false, "nan", 0, {}, 1},
         {"a/Neg/1", "Neg", "x", Outcome::kPass, false, "", 0, {}}});
  const std::string head =
      "op,backend,planned,pass,claimed,claimed_pass,unsupported,why,max_ulp,"
      "headroom,time_us\n";
  const std::string add_x = "Add,x,3,2,2,1,0,,7,-3,4500\n";
  const std::string add_y = "Add,y,3,0,0,0,3,\"opset 2, dtype 1\",,,4500\n";
  const std::string exp_x = "Exp,x,1,0,0,0,0,,,,1500\n";
  const std::string neg_x = "Neg,x,1,1,0,0,0,,0,,1500\n";
  const struct {
    const char* filter;
    std::string rows;
  } rows[] = {{"", add_x + add_y + exp_x + neg_x},
              {"backend:y", add_y},
              {"op:Neg or outcome:fail",
               "Add,x,1,0,1,0,0,,7,-3,1500\n" + exp_x + neg_x}};
  for (const auto& row : rows) {
    const auto found = Got(OperatorsOf(folder_, row.filter));
    EXPECT_EQ(OperatorsCsv(found), head + row.rows) << row.filter;
  }
  EXPECT_EQ(
      OperatorsText(*OperatorsOf(folder_, "")),
      "operator  backend  pass  claimed  unsupported  ulp  headroom   ms  "
      "why\n"
      "Add       x         2/3      1/2                 7        -3  4.5\n"
      "Add       y         0/3                     3                 4.5  "
      "opset 2, dtype 1\n"
      "Exp       x         0/1                                       1.5\n"
      "Neg       x         1/1                          0            1.5\n");
}

TEST_F(OperatorResultsTest, SaysWhatItCannotList) {
  EXPECT_THAT(OperatorsOf(folder_ / "none", "").status().ToString(),
              HasSubstr("results.csv"));
  EXPECT_THAT(OperatorsOf(folder_, "opp:Add").status().ToString(),
              HasSubstr("found the key 'opp'"));
}

cases::TestCase CaseOf(std::string test_id, std::string op, std::string kind) {
  cases::TestCase c;
  c.test_id = std::move(test_id);
  c.op = std::move(op);
  c.kind = std::move(kind);
  c.domain = "ai.onnx";
  c.opset = 13;
  c.dtypes = {"float32"};
  return c;
}

record::ResultRow ResultFor(std::string test_id, std::string_view outcome) {
  record::ResultRow row;
  row.test_id = std::move(test_id);
  row.backend = "acme";
  row.outcome = *record::ParseOutcome(outcome);
  return row;
}

const Coverage& Find(const std::vector<Coverage>& rows, std::string_view op) {
  return *std::ranges::find(rows, op, &Coverage::op);
}

/// The graphs of cases, by test_id; none for others.
GraphOf Graphs(std::map<std::string, std::string> texts) {
  return [texts = std::move(texts)](const cases::TestCase& c) -> Result<Graph> {
    const auto found = texts.find(c.test_id);
    if (found == texts.end()) return NotFound("no graph of ", c.test_id);
    ASSAY_ASSIGN_OR_RETURN(const auto model,
                           graph::ParseModelText(found->second));
    return InferTypes(*model);
  };
}

constexpr char kElu[] =
    "g (float[2] x) => (float[2] y) { y = Elu<alpha = 2.0>(x) }";
constexpr char kHalfElu[] = "g (float16[2] x) => (float16[2] y) { y = Elu(x) }";

TEST(Coverage, CountsCasesModelsAndWhatPasses) {
  const cases::TestCase expanded =
      CaseOf("node/Elu/a_expanded", "Elu", "expanded");
  const cases::TestCase tree =
      CaseOf("node/ml.TreeEnsemble/t", "ml.TreeEnsemble", "node");
  cases::TestCase model = CaseOf("model/light/m", "light", "model");
  model.operators = {"ai.onnx::Elu", "ai.onnx::Relu"};
  const std::vector<Coverage> rows = CoverageOf(
      {CaseOf("node/Elu/a", "Elu", "node"),
       CaseOf("special/Elu/b", "Elu", "special"), expanded, tree, model},
      {ResultFor("node/Elu/a", "pass"), ResultFor("special/Elu/b", "fail"),
       ResultFor("node/Elu/a_expanded", "pass")},
      Graphs({}));
  EXPECT_EQ(rows.size(), Operators().size());
  const Coverage& elu = Find(rows, "ai.onnx::Elu");
  EXPECT_EQ(elu.node_cases, 2);
  EXPECT_EQ(elu.models, 1);
  EXPECT_EQ(elu.backends.at("acme").passed, 1);
  EXPECT_EQ(elu.backends.at("acme").judged, 2);
  EXPECT_EQ(Find(rows, "ai.onnx.ml::TreeEnsemble").node_cases, 1);
  EXPECT_EQ(Find(rows, "ai.onnx::Relu").node_cases, 0);
}

TEST(Coverage, EachCaseTouchesItsPartsOnce) {
  const std::vector<Coverage> rows =
      CoverageOf({CaseOf("node/Elu/a", "Elu", "node"),
                  CaseOf("node/Elu/b", "Elu", "node")},
                 {}, Graphs({{"node/Elu/a", kElu}, {"node/Elu/b", kHalfElu}}));
  const Coverage& elu = Find(rows, "ai.onnx::Elu");
  EXPECT_THAT(elu.opsets, ElementsAre(Pair(1, 0), Pair(6, 0), Pair(22, 2)));
  EXPECT_THAT(elu.dtypes,
              ElementsAre(Pair("T bfloat16", 0), Pair("T float16", 1),
                          Pair("T float32", 1), Pair("T float64", 0)));
  EXPECT_THAT(elu.values,
              ElementsAre(Pair("alpha absent", 1), Pair("alpha given", 1)));
}

/// The lines of one operator's holes when only this graph is a case of it.
std::string HolesWith(const std::string& op, const std::string& graph) {
  const std::string id = "node/" + op + "/c";
  const auto rows =
      CoverageOf({CaseOf(id, op, "node")}, {}, Graphs({{id, graph}}));
  return HoleLines({Find(rows, "ai.onnx::" + op)});
}

TEST(Coverage, AHoleThatIsFilledDisappears) {
  const struct {
    std::string op;
    std::string hole;
    std::string without;  // a graph that leaves it
    std::string with;     // and one that fills it
  } rows[] = {
      {"Elu", "ai.onnx::Elu dtype T float16\n", kElu, kHalfElu},
      {"Elu", "ai.onnx::Elu value alpha given\n", kHalfElu, kElu},
      {"Elu", "ai.onnx::Elu value alpha absent\n", kElu, kHalfElu},
      // A default that is written out is no other value.
      {"Elu", "ai.onnx::Elu value alpha given\n",
       "g (float[2] x) => (float[2] y) { y = Elu<alpha = 1.0>(x) }", kElu},
      {"Gelu", "ai.onnx::Gelu value approximate=tanh\n",
       "g (float[2] x) => (float[2] y) { y = Gelu(x) }",
       "g (float[2] x) => (float[2] y) { y = Gelu<approximate = \"tanh\">(x) "
       "}"},
      {"Size", "ai.onnx::Size opset 25\n", "",
       "g (float[2] x) => (int64 y) { y = Size(x) }"},
      {"Size", "ai.onnx::Size dtype T string\n",
       "g (float[2] x) => (int64 y) { y = Size(x) }",
       "g (string[2] x) => (int64 y) { y = Size(x) }"},
      // The operator may stand in a subgraph.
      {"Not", "ai.onnx::Not dtype T bool\n",
       "g (bool c) => (bool y) { y = Identity(c) }",
       "g (bool c) => (bool y) { y = If(c) <then_branch = a () => (bool t) "
       "{ t = Not(c) }, else_branch = b () => (bool e) { e = Identity(c) }> "
       "}"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(HolesWith(row.op, row.without), HasSubstr(row.hole));
    EXPECT_THAT(HolesWith(row.op, row.with), Not(HasSubstr(row.hole)));
  }
}

TEST(Coverage, TableHasALinePerOperatorAndTotalsIn80Columns) {
  const std::vector<Coverage> rows =
      CoverageOf({CaseOf("node/Elu/a", "Elu", "node")}, {},
                 Graphs({{"node/Elu/a", kElu}}));
  Coverage elu = Find(rows, "ai.onnx::Elu");
  elu.backends["acme"] = {2, 3};
  const std::string table =
      CoverageTable({elu, Find(rows, "ai.onnx::Optional")});
  EXPECT_EQ(std::ranges::count(table, '\n'), 5);
  EXPECT_THAT(table, HasSubstr("  1/3      1/4      1/2  acme 2/3\n"));
  EXPECT_THAT(table, HasSubstr("2 operators, 1 without a case of their own; "
                               "touched are 1/5 versions,\n1/"));
  EXPECT_LE(cli::Widest(CoverageTable(rows)), 80U);
}

TEST(AttributeValues, AreOfAttributesThatThereAreAndHaveTheirDefaults) {
  for (const NamedAttribute& named : NamedAttributes()) {
    bool found = false;
    for (size_t i = 0; i < Operators().size(); ++i) {
      const OperatorInfo& info = Operators()[i];
      const std::string op = cases::OperatorName(info.domain, info.name);
      if (!named.op.empty() && named.op != op) continue;
      for (const types::AttributeInfo& attribute :
           types::SignatureOf(static_cast<OperatorId>(i)).attributes) {
        if (attribute.name != named.attribute) continue;
        found = true;
        if (attribute.initial.empty()) continue;
        EXPECT_THAT(ValuesOf(op, attribute.name), Contains(attribute.initial))
            << op << " " << attribute.name;
      }
    }
    EXPECT_TRUE(found) << named.op << " " << named.attribute;
  }
}

}  // namespace
}  // namespace assay::list
