// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "framework/cli/list/attribute_values.h"
#include "framework/cli/list/coverage_table.h"
#include "framework/graph/model_text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/case/operator_name.h"

namespace assay::list {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

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
  struct Row {
    std::string op;
    std::string hole;
    std::string without;  // a graph that leaves it
    std::string with;     // and one that fills it
  };
  const Row rows[] = {
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
  for (const Row& row : rows) {
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
  std::istringstream lines(CoverageTable(rows));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
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
