// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/graph/operator.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TestCase CaseOf(std::string test_id, std::string op, std::string kind) {
  TestCase c;
  c.test_id = std::move(test_id);
  c.op = std::move(op);
  c.kind = std::move(kind);
  c.domain = "ai.onnx";
  c.opset = 13;
  c.dtypes = {"float32"};
  return c;
}

ResultRow ResultFor(std::string test_id, std::string outcome) {
  ResultRow row;
  row.test_id = std::move(test_id);
  row.backend = "acme";
  row.outcome = std::move(outcome);
  return row;
}

const Coverage& Find(const std::vector<Coverage>& rows, std::string_view op) {
  return *std::ranges::find(rows, op, &Coverage::op);
}

TEST(Coverage, CountsWhatCasesTouchAndWhatPasses) {
  TestCase a = CaseOf("node/Elu/a", "Elu", "node");
  a.attributes = {{"alpha", "2.0"}};
  TestCase b = CaseOf("node/Elu/b", "Elu", "node");
  b.attributes = {{"alpha", "1.0"}};
  b.opset = 22;
  const TestCase expanded = CaseOf("node/Elu/a_expanded", "Elu", "expanded");
  TestCase tree = CaseOf("node/ml.TreeEnsemble/t", "ml.TreeEnsemble", "node");
  tree.domain = "ai.onnx.ml";
  TestCase model = CaseOf("model/light/m", "light", "model");
  model.operators = {"ai.onnx::Elu", "ai.onnx::Relu"};
  const std::vector<Coverage> rows = CoverageOf(
      {a, b, expanded, tree, model},
      {ResultFor("node/Elu/a", "pass"), ResultFor("node/Elu/b", "fail"),
       ResultFor("node/Elu/a_expanded", "pass")});
  EXPECT_EQ(rows.size(), Operators().size());
  const Coverage& elu = Find(rows, "ai.onnx::Elu");
  EXPECT_EQ(elu.node_cases, 2);
  EXPECT_EQ(elu.models, 1);
  EXPECT_THAT(elu.opsets, ElementsAre(13, 22));
  EXPECT_THAT(elu.attributes.at("alpha"), ElementsAre("1.0", "2.0"));
  EXPECT_EQ(elu.backends.at("acme").passed, 1);
  EXPECT_EQ(elu.backends.at("acme").judged, 2);
  EXPECT_EQ(Find(rows, "ai.onnx.ml::TreeEnsemble").node_cases, 1);
  EXPECT_EQ(Find(rows, "ai.onnx::Relu").node_cases, 0);
}

TEST(Coverage, TableHasALinePerOperatorAndTheHoles) {
  Coverage one;
  one.op = "ai.onnx::Elu";
  one.since = 22;
  one.node_cases = 3;
  one.backends["acme"] = {2, 3};
  Coverage none;
  none.op = "ai.onnx::Optional";
  const std::string table = CoverageTable({one, none});
  EXPECT_EQ(std::ranges::count(table, '\n'), 4);
  EXPECT_THAT(table, HasSubstr("acme 2/3\n"));
  EXPECT_THAT(table, HasSubstr("2 operators, 1 without a node case\n"));
}

}  // namespace
}  // namespace assay
