// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/training_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/testing/support/names_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kBoth[] =
    "g (float[N,2,3] x, float[2] v) => (float[N,6] y) "
    "<float[2] s = {1, 1}, float[2] b = {0, 0}, float[2] m = {3, 4}, "
    "float r = {0.25}> "
    "{ n = BatchNormalization<momentum = 0.8>(x, s, b, m, v) "
    "d = Dropout(n, r) e = Dropout(d) y = Flatten(e) }";

/// "y = Mul(x, z)" of each node, with an attribute where it is of interest.
std::vector<std::string> Nodes(const Model& model) {
  std::vector<std::string> nodes;
  const auto names = [&](const std::vector<ValueId>& ids) {
    return Joined(ids, ",", [&](ValueId id) { return model.graph()[id].name; });
  };
  for (const Node& node : model.graph().nodes) {
    const Attribute* const mode = node.Find("training_mode");
    nodes.push_back(StrCat(
        names(node.outputs), " = ", node.op_type,
        mode == nullptr ? "" : StrCat("<", std::get<int64_t>(mode->held), ">"),
        "(", names(node.inputs), ")"));
  }
  return nodes;
}

// Kills: a statistic that is not fed back into its own input, a mask of another
// value's shape, a node that stays in inference form.
TEST(TrainingFormTest, SaysWhatIsFedBackAndDropped) {
  const auto model = graph::ModelOfText(kBoth);
  const auto form = AsTrainingForm(*model);
  ASSERT_TRUE(form.ok()) << form.status().ToString();
  EXPECT_THAT(
      Nodes(*form->model),
      ElementsAre("n,m_next,v_next = BatchNormalization<1>(x,s,b,m,v)",
                  "d = Mul(n,d_mask)", "e = Mul(d,e_mask)", "y = Flatten(e)"));
  EXPECT_THAT(TypedNamesOf(form->model->graph(), form->model->graph().inputs),
              ElementsAre("x float32[N,2,3]", "v float32[2]", "m float32[2]",
                          "d_mask float32[N,2,3]", "e_mask float32[N,2,3]"));
  EXPECT_THAT(
      TypedNamesOf(form->model->graph(), form->model->graph().outputs),
      ElementsAre("y float32[N,6]", "m_next float32[2]", "v_next float32[2]"));
  ASSERT_EQ(form->statistics.size(), 2U);
  EXPECT_EQ(form->statistics[0].input, "m");
  EXPECT_EQ(form->statistics[0].output, "m_next");
  EXPECT_THAT(form->statistics[0].first.elements<float>(), ElementsAre(3, 4));
  EXPECT_EQ(form->statistics[1].input, "v");
  EXPECT_EQ(form->statistics[1].output, "v_next");
  EXPECT_FALSE(form->statistics[1].first.defined());
  ASSERT_EQ(form->masks.size(), 2U);
  EXPECT_EQ(form->masks[0].input, "d_mask");
  EXPECT_EQ(form->masks[0].like, "n");
  EXPECT_EQ(form->masks[0].ratio, 0.25);
  EXPECT_EQ(form->masks[1].like, "d");
  EXPECT_EQ(form->masks[1].ratio, 0.5);
}

// Kills: a test form that drops, or that normalizes by its batch.
TEST(TrainingFormTest, HasTheInferenceFormBeside) {
  const auto model = graph::ModelOfText(kBoth);
  const auto form = AsTrainingForm(*model);
  ASSERT_TRUE(form.ok()) << form.status().ToString();
  EXPECT_EQ(Nodes(*form->inference), Nodes(*model));
  EXPECT_THAT(
      TypedNamesOf(form->inference->graph(), form->inference->graph().inputs),
      ElementsAre("x float32[N,2,3]", "v float32[2]", "m float32[2]"));
  EXPECT_THAT(
      TypedNamesOf(form->inference->graph(), form->inference->graph().outputs),
      ElementsAre("y float32[N,6]"));
}

TEST(TrainingFormTest, LeavesOthersAsTheyAre) {
  const auto model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Relu(x) }", 13);
  const auto form = AsTrainingForm(*model);
  ASSERT_TRUE(form.ok()) << form.status().ToString();
  EXPECT_EQ(Nodes(*form->model), Nodes(*model));
  EXPECT_THAT(form->statistics, IsEmpty());
  EXPECT_THAT(form->masks, IsEmpty());
}

/// A graph of x, whose two channels are normalized by m and v, with this body.
std::string NormalizedGraph(std::string_view body, std::string_view more = "") {
  return StrCat("g (float[N,2] x) => (float[N,2] y) <float[2] m = {0, 0}, ",
                "float[2] v = {1, 1}, float r = {1}, bool t = {1}", more, "> {",
                body, "}");
}

TEST(TrainingFormTest, SaysWhatIsWrong) {
  struct Row {
    const char* name;
    std::string graph;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"trains",
               NormalizedGraph("y, a, b = BatchNormalization<training_mode = 1>"
                               "(x, v, m, m, v)"),
               "found BatchNormalization of 'y' in training form"},
           Row{"drops", NormalizedGraph("y = Dropout(x, r, t)"),
               "found Dropout of 'y' in training form"},
           Row{"mask", NormalizedGraph("y, k = Dropout(x)"),
               "wanted no mask of it and its training_mode false"},
           Row{"all", NormalizedGraph("y = Dropout(x, r)"),
               "Dropout of 'y' has the ratio 'r' = 1, wanted a number of [0"},
           Row{"computed_ratio",
               NormalizedGraph(
                   "q = ReduceMax<keepdims = 0>(x) y = Dropout(x, q)"),
               "has the ratio 'q' that is not fixed"},
           Row{"computed",
               NormalizedGraph(
                   "n = Neg(m) y = BatchNormalization(x, v, m, n, v)"),
               "BatchNormalization of 'y' has the computed statistic 'n', "
               "wanted an initializer or an input"},
           Row{"shared",
               NormalizedGraph("n = BatchNormalization(x, v, m, m, v) "
                               "y = BatchNormalization(n, v, m, m, v)"),
               "BatchNormalization of 'y' has the statistic 'm' of another"},
           Row{"name",
               NormalizedGraph("y = BatchNormalization(x, v, m, m, v)",
                               ", float[2] v_next = {0, 0}"),
               "the graph has a value 'v_next' already"},
       }) {
    const auto form = AsTrainingForm(*graph::ModelOfText(row.graph));
    EXPECT_EQ(form.status().code(), StatusCode::kInvalidArgument) << row.name;
    EXPECT_THAT(form.status().message(), HasSubstr(row.message)) << row.name;
  }
}

TEST(TrainingFormTest, SaysWhatItDoesNotDo) {
  const auto old = AsTrainingForm(*graph::ModelOfText(
      NormalizedGraph("y = BatchNormalization(x, v, m, m, v)"), 13));
  EXPECT_EQ(old.status().reason(), Reason::kOpset);
  EXPECT_THAT(old.status().message(),
              HasSubstr("found version 13 of ai.onnx, wanted 14 at least"));
  const auto within = AsTrainingForm(*graph::ModelOfText(NormalizedGraph(
      "y = If(t) <then_branch = a () => (float[N,2] p) { p = Dropout(x) }, "
      "else_branch = b () => (float[N,2] q) { q = Identity(x) }>")));
  EXPECT_EQ(within.status().reason(), Reason::kOperator);
  EXPECT_THAT(
      within.status().message(),
      HasSubstr("in a subgraph or a function, wanted them in the main"));
}

}  // namespace
}  // namespace assay::edit
