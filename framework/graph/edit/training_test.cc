// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"
#include "framework/testing/support/names_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTwoLayers[] =
    "g (float[N,2] x) => (float[N,3] y, float[N] z) "
    "<float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {0, 0, 0}, "
    "float[3] c = {1, 1, 1}> "
    "{ h = MatMul(x, w) y = Add(h, b) d = Mul(y, c) "
    "z = ReduceSum<keepdims = 0>(x) }";

std::vector<std::string> Added(const Model& model, const Model& before) {
  std::vector<std::string> ops;
  for (const Node& node : model.graph().nodes) ops.push_back(node.op_type);
  ops.erase(ops.begin(),
            ops.begin() + static_cast<int>(before.graph().nodes.size()));
  return ops;
}

TEST(AsInputsTest, PutsThemBehindTheOthers) {
  const auto model = graph::ModelOfText(kTwoLayers);
  const std::vector<std::string> names = {"b", "w"};
  const auto open = AsInputs(*model, names);
  ASSERT_TRUE(open.ok()) << open.status().ToString();
  EXPECT_THAT(TypedNamesOf((*open)->graph(), (*open)->graph().inputs),
              ElementsAre("x float32[N,2]", "b float32[3]", "w float32[2,3]"));
  ASSERT_EQ((*open)->graph().initializers.size(), 1U);
  EXPECT_EQ((*open)->graph()[(*open)->graph().initializers[0].id].name, "c");
}

// Kills: an input of the name of one that there is already.
TEST(AsInputsTest, TakesOneThatMayBeOverridden) {
  const auto model = graph::ModelOfText(
      "g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {2}> "
      "{ y = Mul(x, w) }");
  ASSERT_EQ(model->graph().inputs.size(), 1U);
  const std::vector<std::string> names = {"w"};
  const auto open = AsInputs(*model, names);
  ASSERT_TRUE(open.ok()) << open.status().ToString();
  EXPECT_THAT(TypedNamesOf((*open)->graph(), (*open)->graph().inputs),
              ElementsAre("x float32[1]", "w float32[1]"));
  EXPECT_THAT((*open)->graph().initializers, IsEmpty());
}

TEST(AsInputsTest, SaysWhatIsNoInitializer) {
  const auto model = graph::ModelOfText(kTwoLayers);
  for (const char* name : {"x", "y", "v"}) {
    const std::vector<std::string> names = {"w", name};
    const auto open = AsInputs(*model, names);
    EXPECT_EQ(open.status().code(), StatusCode::kNotFound);
    EXPECT_THAT(open.status().message(),
                HasSubstr(StrCat("'", name, "' is no initializer")));
  }
}

TEST(WithLossTest, AddsAnInputAndAnOutput) {
  const auto model = graph::ModelOfText(kTwoLayers);
  struct Row {
    Loss loss;
    bool sum;
    const char* targets;
    std::vector<std::string> added;
  };
  for (const Row& row : {
           Row{Loss::kSoftmaxCrossEntropy,
               false,
               "targets int64[N]",
               {"SoftmaxCrossEntropyLoss"}},
           Row{Loss::kSoftmaxCrossEntropyOfOneHot,
               false,
               "targets float32[N,3]",
               {"LogSoftmax", "Mul", "ReduceSum", "ReduceSum", "Div", "Neg"}},
           Row{Loss::kSoftmaxCrossEntropyOfOneHot,
               true,
               "targets float32[N,3]",
               {"LogSoftmax", "Mul", "ReduceSum", "Neg"}},
           Row{Loss::kNegativeLogLikelihood,
               false,
               "targets int64[N]",
               {"NegativeLogLikelihoodLoss"}},
           Row{Loss::kNegativeLogLikelihoodOfOneHot,
               false,
               "targets float32[N,3]",
               {"Mul", "ReduceSum", "ReduceSum", "Div", "Neg"}},
           Row{Loss::kMeanSquaredError,
               false,
               "targets float32[N,3]",
               {"Sub", "Mul", "ReduceMean"}},
           Row{Loss::kMeanSquaredError,
               true,
               "targets float32[N,3]",
               {"Sub", "Mul", "ReduceSum"}},
       }) {
    LossEdit edit;
    edit.loss = row.loss;
    edit.sum = row.sum;
    const auto trained = WithLoss(*model, edit);
    ASSERT_TRUE(trained.ok()) << trained.status().ToString();
    const Graph& graph = (*trained)->graph();
    EXPECT_THAT(TypedNamesOf(graph, graph.inputs),
                ElementsAre("x float32[N,2]", row.targets));
    EXPECT_THAT(
        TypedNamesOf(graph, graph.outputs),
        ElementsAre("y float32[N,3]", "z float32[N]", "loss float32[]"));
    EXPECT_EQ(Added(**trained, *model), row.added);
  }
}

TEST(WithLossTest, SaysWhatIsWrong) {
  const auto model = graph::ModelOfText(kTwoLayers);
  const auto edit = [](const auto& change) {
    LossEdit made;
    change(&made);
    return made;
  };
  struct Row {
    LossEdit edit;
    std::string_view message;
  };
  for (const Row& row : {
           Row{edit([](LossEdit* e) { e->of = "h"; }), "'h' is no output"},
           Row{edit([](LossEdit* e) { e->of = "z"; }),
               "the output 'z' is float32[N], wanted a matrix"},
           Row{edit([](LossEdit* e) { e->targets = "x"; }),
               "has a value 'x' already"},
           Row{edit([](LossEdit* e) { e->result = "y"; }),
               "has a value 'y' already"},
           Row{edit([](LossEdit* e) {
                 e->weights = *Tensor::Allocate(DType::kFloat64, {3});
               }),
               "the weights are float64[3], wanted a vector of float32"},
       }) {
    const auto trained = WithLoss(*model, row.edit);
    EXPECT_FALSE(trained.ok());
    EXPECT_THAT(trained.status().message(), HasSubstr(row.message));
  }
  const auto old = graph::ModelOfText(
      "g (float[N,2] x) => (float[N,2] y) { y = Relu(x) }", 12);
  const auto trained = WithLoss(*old, {});
  EXPECT_EQ(trained.status().reason(), Reason::kOpset);
  EXPECT_THAT(trained.status().message(),
              HasSubstr("found version 12 of ai.onnx, wanted 13 at least"));
}

}  // namespace
}  // namespace assay::edit
