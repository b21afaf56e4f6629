// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/node_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/graph/model_text.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLayer[] =
    "g (float[N,2] x) => (float[N,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}> "
    "{ h = MatMul(x, w) y = LeakyRelu<alpha = 0.5>(h) }";

std::vector<std::string> Operators(const Model& model) {
  std::vector<std::string> ops;
  for (const Node& node : model.graph().nodes) ops.push_back(node.op_type);
  return ops;
}

TEST(AddNodesTest, PutsThemBehindTheOthers) {
  const auto model = graph::ModelOfText(kLayer);
  const auto more =
      AddNodes(*model, "a = Neg(h) b = ReduceSum<keepdims = 0>(a)");
  ASSERT_TRUE(more.ok()) << more.status().ToString();
  EXPECT_THAT(Operators(**more),
              ElementsAre("MatMul", "LeakyRelu", "Neg", "ReduceSum"));
  EXPECT_EQ((*more)->graph().outputs.size(), 1U);
}

TEST(AddOutputTest, HasTheTypeThatInferenceFinds) {
  const auto model = graph::ModelOfText(kLayer);
  const auto more = AddOutput(*model, "h");
  ASSERT_TRUE(more.ok()) << more.status().ToString();
  const Graph& graph = (*more)->graph();
  ASSERT_EQ(graph.outputs.size(), 2U);
  EXPECT_EQ(graph[graph.outputs[1]].name, "h");
  EXPECT_EQ(graph[graph.outputs[1]].type.ToString(), "float32[N,3]");
}

// Kills: nodes at the end of the list, behind those that read them.
TEST(ReplaceNodeTest, PutsNodesInItsPlace) {
  const auto model = graph::ModelOfText(kLayer);
  const auto other =
      ReplaceNode(*model, "h", "n = Neg(x) m = MatMul(n, w) h = Exp(m)");
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_THAT(Operators(**other),
              ElementsAre("Neg", "MatMul", "Exp", "LeakyRelu"));
}

TEST(SetAttributeTest, AddsOneOrReplacesIt) {
  const auto model = graph::ModelOfText(kLayer);
  const auto set =
      SetAttribute(*model, "y", {.name = "alpha", .held = 0.25F, .ref = ""});
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  const Node& node = (*set)->graph().nodes[1];
  ASSERT_EQ(node.attributes.size(), 1U);
  EXPECT_EQ(std::get<float>(node.attributes[0].held), 0.25F);

  const auto softmax = ReplaceNode(**set, "y", "y = Softmax(h)");
  ASSERT_TRUE(softmax.ok()) << softmax.status().ToString();
  const auto along = SetAttribute(
      **softmax, "y", {.name = "axis", .held = int64_t{0}, .ref = ""});
  ASSERT_TRUE(along.ok()) << along.status().ToString();
  EXPECT_EQ(std::get<int64_t>((*along)->graph().nodes[1].Find("axis")->held),
            0);
}

TEST(NodeEditTest, SaysWhatIsWrong) {
  const auto model = graph::ModelOfText(kLayer);
  struct Row {
    Result<std::shared_ptr<const Model>> edited;
    std::string_view message;
  };
  for (const Row& row : {
           Row{AddNodes(*model, "a = Neg("), "Neg("},
           Row{AddNodes(*model, "a = Neg(v)"), "v"},
           Row{AddNodes(*model, "h = Neg(x)"), "h"},
           Row{AddNodes(*model, "a = Neg<alpha = 1>(x)"), "alpha"},
           Row{AddOutput(*model, "v"), "the graph has no value 'v'"},
           Row{AddOutput(*model, "y"), "'y' is an output already"},
           Row{ReplaceNode(*model, "x", "x = Neg(h)"),
               "no node of the graph computes 'x'"},
           Row{ReplaceNode(*model, "h", "k = MatMul(x, w)"), "h"},
           Row{SetAttribute(*model, "w",
                            {.name = "a", .held = 1.0F, .ref = ""}),
               "no node of the graph computes 'w'"},
           Row{SetAttribute(*model, "y",
                            {.name = "alpha", .held = int64_t{1}, .ref = ""}),
               "alpha"},
       }) {
    EXPECT_FALSE(row.edited.ok()) << row.message;
    EXPECT_THAT(row.edited.status().message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace assay::edit
