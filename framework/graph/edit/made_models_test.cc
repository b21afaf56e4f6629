// SPDX-License-Identifier: Apache-2.0
//
// Models made of another: with other seeds, with every node once more, with a
// loss, and in training form.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "framework/graph/edit/copies.h"
#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DrawnSeedsTest, AreDistinctIntegersOfFloat32) {
  const auto seeds = DrawnSeeds(10000, 7);
  EXPECT_EQ(std::set<int64_t>(seeds.begin(), seeds.end()).size(), 10000U);
  for (const int64_t seed : seeds) {
    EXPECT_EQ(static_cast<int64_t>(static_cast<float>(seed)), seed);
    EXPECT_GE(seed, 0);
  }
  EXPECT_EQ(DrawnSeeds(10000, 7), seeds);
  EXPECT_NE(DrawnSeeds(10000, 8), seeds);
}

template <class T>
std::vector<T> SeedsOf(const Graph& graph) {
  std::vector<T> seeds;
  for (const Node& node : graph.nodes) {
    if (const Attribute* seed = node.Find("seed")) {
      seeds.push_back(std::get<T>(seed->held));
    }
  }
  return seeds;
}

TEST(WithSeedsTest, EveryCopyHasItsSeedAndItsOutputs) {
  const auto model = graph::ModelOfText(
      "g (float[2] x, float r, bool t) => (float[2] y, bool[2] m) "
      "{ y, m = Dropout <seed = 300> (x, r, t) }");
  const auto many = Got(WithSeeds(*model, std::vector<int64_t>{5, 0, 1 << 20}));
  const Graph& graph = many->graph();
  EXPECT_THAT(SeedsOf<int64_t>(graph), ElementsAre(5, 0, 1 << 20));
  EXPECT_EQ(SeedsOf<int64_t>((*Model::Parse(many->bytes()))->graph()),
            SeedsOf<int64_t>(graph));
  EXPECT_THAT(NamesOf(graph, graph.inputs), ElementsAre("x", "r", "t"));
  EXPECT_THAT(NamesOf(graph, graph.outputs),
              ElementsAre("y.draw0", "m.draw0", "y.draw1", "m.draw1", "y.draw2",
                          "m.draw2"));
  for (const ValueId id : graph.outputs) {
    EXPECT_EQ(graph[id].type.kind, ValueKind::kTensor);
  }
  EXPECT_EQ(many->opsets(), model->opsets());
  EXPECT_EQ(many->ir_version(), model->ir_version());
}

TEST(WithSeedsTest, ValuesBetweenNodesAreCopiedAndInitializersShared) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y) <float[2] p = {0.5, 0.25}, float[2] u> "
      "{ u = RandomUniformLike <low = 0.0, seed = 0.0> (x) b = Greater(u, p) "
      "y = Cast <to = 1> (b) }");
  const auto many = Got(WithSeeds(*model, std::vector<int64_t>{3, 16777215}));
  const Graph& graph = many->graph();
  EXPECT_THAT(SeedsOf<float>(graph), ElementsAre(3, 16777215));
  ASSERT_EQ(graph.nodes.size(), 6U);
  EXPECT_THAT(NamesOf(graph, graph.nodes[4].inputs),
              ElementsAre("u.draw1", "p"));
  EXPECT_EQ(std::get<float>(graph.nodes[3].Find("low")->held), 0);
  EXPECT_EQ(graph.initializers.size(), 1U);
  EXPECT_THAT(NamesOf(graph, graph.outputs), ElementsAre("y.draw0", "y.draw1"));
}

// Kills: a model that nobody has checked and that says so nevertheless.
TEST(WithSeedsTest, OnlyWhatTheCheckerAcceptsIsChecked) {
  for (const auto& [text, is_right] :
       {std::pair{"y = Bernoulli <seed = 1.0> (x)", true},
        std::pair{"y = Bernoulli <seed = 1.0> (x, x)", false}}) {
    const auto model = graph::ModelOfText(
        StrCat("g (float[2] x) => (float[2] y) {", text, "}"));
    const auto many = Got(WithSeeds(*model, std::vector<int64_t>{3, 4}));
    EXPECT_EQ(many->checked(), is_right) << text;
    EXPECT_EQ(types::CheckModel(*many).ok(), is_right) << text;
  }
}

TEST(WithSeedsTest, ModelsWithoutBytesAreRefused) {
  EXPECT_FALSE(WithSeeds(Model(Model::Parts()), std::vector<int64_t>{1}).ok());
}

// Kills: a second half that reads or writes what the first gives, an output
// that is missing, and an input that somebody reads.
TEST(Doubled, HasEveryNodeOnceMore) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y, float[2] h) <float[2] b = {1, 2}> "
      "{ h = Mul(x, b) y = Add(h, b) }");
  const auto both = Got(Doubled(*model, "unread"));
  EXPECT_TRUE(types::CheckModel(*both).ok());
  const Graph& graph = both->graph();
  EXPECT_THAT(NamesOf(graph, graph.inputs), ElementsAre("x", "unread"));
  EXPECT_THAT(NamesOf(graph, graph.outputs),
              ElementsAre("y", "h", "y/again", "h/again"));
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_THAT(NamesOf(graph, graph.nodes[2].inputs), ElementsAre("x", "b"));
  EXPECT_THAT(NamesOf(graph, graph.nodes[3].inputs),
              ElementsAre("h/again", "b"));
  EXPECT_EQ(graph[graph.inputs[1]].type.ToString(), "float32[2]");
  EXPECT_THAT(Doubled(*model, "h"), Says("'h'"));
}

// Kills: two bodies whose names are one, and a capture that is lost.
TEST(Doubled, KeepsSubgraphsAndOmittedOutputs) {
  const auto model = graph::ModelOfText(
      "g (bool c, float[2] x) => (float[2] y) { y = If (c) <"
      "then_branch = t () => (float[2] a) { a = Neg(x) }, "
      "else_branch = e () => (float[2] b) { b = Identity(x) }> }");
  const auto both = Got(Doubled(*model, "unread"));
  EXPECT_TRUE(types::CheckModel(*both).ok());
  EXPECT_EQ(both->graph().nodes[1].Subgraphs()[1]->captures.size(), 1U);
}

constexpr char kTwoLayers[] =
    "g (float[N,2] x) => (float[N,3] y, float[N] z) "
    "<float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {0, 0, 0}, "
    "float[3] c = {1, 1, 1}> "
    "{ h = MatMul(x, w) y = Add(h, b) d = Mul(y, c) "
    "z = ReduceSum<keepdims = 0>(x) }";

std::string Added(const Model& model, const Model& before) {
  const auto& nodes = model.graph().nodes;
  return Joined(std::span(nodes).subspan(before.graph().nodes.size()), " ",
                &Node::op_type);
}

TEST(AsInputsTest, PutsThemBehindTheOthers) {
  const auto model = graph::ModelOfText(kTwoLayers);
  const std::vector<std::string> names = {"b", "w"};
  const auto open = Got(AsInputs(*model, names));
  EXPECT_THAT(TypedNamesOf(open->graph(), open->graph().inputs),
              ElementsAre("x float32[N,2]", "b float32[3]", "w float32[2,3]"));
  ASSERT_EQ(open->graph().initializers.size(), 1U);
  EXPECT_EQ(open->graph()[open->graph().initializers[0].id].name, "c");
}

// Kills: an input of the name of one that there is already.
TEST(AsInputsTest, TakesOneThatMayBeOverridden) {
  const auto model = graph::ModelOfText(
      "g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {2}> "
      "{ y = Mul(x, w) }");
  ASSERT_EQ(model->graph().inputs.size(), 1U);
  const std::vector<std::string> names = {"w"};
  const auto open = Got(AsInputs(*model, names));
  EXPECT_THAT(TypedNamesOf(open->graph(), open->graph().inputs),
              ElementsAre("x float32[1]", "w float32[1]"));
  EXPECT_THAT(open->graph().initializers, IsEmpty());
}

TEST(AsInputsTest, SaysWhatIsNoInitializer) {
  const auto model = graph::ModelOfText(kTwoLayers);
  for (const char* name : {"x", "y", "v"}) {
    const std::vector<std::string> names = {"w", name};
    EXPECT_THAT(AsInputs(*model, names),
                IsStatus(StatusCode::kNotFound,
                         StrCat("'", name, "' is no initializer")));
  }
}

TEST(WithLossTest, AddsAnInputAndAnOutput) {
  const auto model = graph::ModelOfText(kTwoLayers);
  struct Row {
    Loss loss;
    bool sum;
    const char* targets;
    const char* added;
  };
  for (const Row& row : {
           Row{Loss::kSoftmaxCrossEntropy, false, "targets int64[N]",
               "SoftmaxCrossEntropyLoss"},
           Row{Loss::kSoftmaxCrossEntropyOfOneHot, false,
               "targets float32[N,3]",
               "LogSoftmax Mul ReduceSum ReduceSum Div Neg"},
           Row{Loss::kSoftmaxCrossEntropyOfOneHot, true, "targets float32[N,3]",
               "LogSoftmax Mul ReduceSum Neg"},
           Row{Loss::kNegativeLogLikelihood, false, "targets int64[N]",
               "NegativeLogLikelihoodLoss"},
           Row{Loss::kNegativeLogLikelihoodOfOneHot, false,
               "targets float32[N,3]", "Mul ReduceSum ReduceSum Div Neg"},
           Row{Loss::kMeanSquaredError, false, "targets float32[N,3]",
               "Sub Mul ReduceMean"},
           Row{Loss::kMeanSquaredError, true, "targets float32[N,3]",
               "Sub Mul ReduceSum"},
       }) {
    LossEdit edit;
    edit.loss = row.loss;
    edit.sum = row.sum;
    const auto trained = Got(WithLoss(*model, edit));
    const Graph& graph = trained->graph();
    EXPECT_THAT(TypedNamesOf(graph, graph.inputs),
                ElementsAre("x float32[N,2]", row.targets));
    EXPECT_THAT(
        TypedNamesOf(graph, graph.outputs),
        ElementsAre("y float32[N,3]", "z float32[N]", "loss float32[]"));
    EXPECT_EQ(Added(*trained, *model), row.added);
  }
}

// Kills: a mean in the place of a sum; a class that counts and should not.
TEST(WithLossTest, SaysHowClassesAreReduced) {
  const auto model = graph::ModelOfText(kTwoLayers);
  for (const Loss loss :
       {Loss::kSoftmaxCrossEntropy, Loss::kNegativeLogLikelihood}) {
    for (const bool sum : {false, true}) {
      LossEdit edit;
      edit.loss = loss;
      edit.sum = sum;
      edit.ignore_index = 2;
      const auto trained = Got(WithLoss(*model, edit));
      const Node& node = trained->graph().nodes.back();
      EXPECT_EQ(std::get<std::string>(node.Find("reduction")->held),
                sum ? "sum" : "mean");
      EXPECT_EQ(std::get<int64_t>(node.Find("ignore_index")->held), 2);
    }
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
    EXPECT_THAT(WithLoss(*model, row.edit), Says(row.message));
  }
  const auto old = graph::ModelOfText(
      "g (float[N,2] x) => (float[N,2] y) { y = Relu(x) }", 12);
  const auto trained = WithLoss(*old, {});
  EXPECT_EQ(trained.status().reason(), Reason::kOpset);
  EXPECT_THAT(trained, Says("found version 12 of ai.onnx, wanted 13 at least"));
}

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
    return Joined(NamesOf(model.graph(), ids), ",");
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
  const auto form = Got(AsTrainingForm(*model));
  EXPECT_THAT(
      Nodes(*form.model),
      ElementsAre("n,m_next,v_next = BatchNormalization<1>(x,s,b,m,v)",
                  "d = Mul(n,d_mask)", "e = Mul(d,e_mask)", "y = Flatten(e)"));
  EXPECT_THAT(TypedNamesOf(form.model->graph(), form.model->graph().inputs),
              ElementsAre("x float32[N,2,3]", "v float32[2]", "m float32[2]",
                          "d_mask float32[N,2,3]", "e_mask float32[N,2,3]"));
  EXPECT_THAT(
      TypedNamesOf(form.model->graph(), form.model->graph().outputs),
      ElementsAre("y float32[N,6]", "m_next float32[2]", "v_next float32[2]"));
  ASSERT_EQ(form.statistics.size(), 2U);
  EXPECT_EQ(form.statistics[0].input, "m");
  EXPECT_EQ(form.statistics[0].output, "m_next");
  EXPECT_THAT(form.statistics[0].first.elements<float>(), ElementsAre(3, 4));
  EXPECT_EQ(form.statistics[1].input, "v");
  EXPECT_EQ(form.statistics[1].output, "v_next");
  EXPECT_FALSE(form.statistics[1].first.defined());
  ASSERT_EQ(form.masks.size(), 2U);
  EXPECT_EQ(form.masks[0].input, "d_mask");
  EXPECT_EQ(form.masks[0].like, "n");
  EXPECT_EQ(form.masks[0].ratio, 0.25);
  EXPECT_EQ(form.masks[1].like, "d");
  EXPECT_EQ(form.masks[1].ratio, 0.5);
}

// Kills: a test form that drops, or that normalizes by its batch.
TEST(TrainingFormTest, HasTheInferenceFormBeside) {
  const auto model = graph::ModelOfText(kBoth);
  const auto form = Got(AsTrainingForm(*model));
  EXPECT_EQ(Nodes(*form.inference), Nodes(*model));
  EXPECT_THAT(
      TypedNamesOf(form.inference->graph(), form.inference->graph().inputs),
      ElementsAre("x float32[N,2,3]", "v float32[2]", "m float32[2]"));
  EXPECT_THAT(
      TypedNamesOf(form.inference->graph(), form.inference->graph().outputs),
      ElementsAre("y float32[N,6]"));
}

TEST(TrainingFormTest, LeavesOthersAsTheyAre) {
  const auto model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Relu(x) }", 13);
  const auto form = Got(AsTrainingForm(*model));
  EXPECT_EQ(Nodes(*form.model), Nodes(*model));
  EXPECT_THAT(form.statistics, IsEmpty());
  EXPECT_THAT(form.masks, IsEmpty());
}

/// A graph of x, whose two channels are normalized by m and v, with this body.
std::string NormalizedGraph(std::string_view body, std::string_view more = "") {
  return StrCat("g (float[N,2] x) => (float[N,2] y) <float[2] m = {0, 0}, ",
                "float[2] v = {1, 1}, float r = {1}, bool t = {1}", more, "> {",
                body, "}");
}

TEST(TrainingFormTest, SaysWhatIsWrong) {
  const struct {
    const char* name;
    std::string graph;
    std::string_view message;
  } rows[] = {
      {"trains",
       NormalizedGraph("y, a, b = BatchNormalization<training_mode = 1>"
                       "(x, v, m, m, v)"),
       "found BatchNormalization of 'y' in training form"},
      {"drops", NormalizedGraph("y = Dropout(x, r, t)"),
       "found Dropout of 'y' in training form"},
      {"mask", NormalizedGraph("y, k = Dropout(x)"),
       "wanted no mask of it and its training_mode false"},
      {"all", NormalizedGraph("y = Dropout(x, r)"),
       "Dropout of 'y' has the ratio 'r' = 1, wanted a number of [0"},
      {"computed_ratio",
       NormalizedGraph("q = ReduceMax<keepdims = 0>(x) y = Dropout(x, q)"),
       "has the ratio 'q' that is not fixed"},
      {"computed",
       NormalizedGraph("n = Neg(m) y = BatchNormalization(x, v, m, n, v)"),
       "BatchNormalization of 'y' has the computed statistic 'n', "
       "wanted an initializer or an input"},
      {"shared",
       NormalizedGraph("n = BatchNormalization(x, v, m, m, v) "
                       "y = BatchNormalization(n, v, m, m, v)"),
       "BatchNormalization of 'y' has the statistic 'm' of another"},
      {"name",
       NormalizedGraph("y = BatchNormalization(x, v, m, m, v)",
                       ", float[2] v_next = {0, 0}"),
       "the graph has a value 'v_next' already"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(AsTrainingForm(*graph::ModelOfText(row.graph)),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.name;
  }
}

TEST(TrainingFormTest, SaysWhatItDoesNotDo) {
  const auto old = AsTrainingForm(*graph::ModelOfText(
      NormalizedGraph("y = BatchNormalization(x, v, m, m, v)"), 13));
  EXPECT_EQ(old.status().reason(), Reason::kOpset);
  EXPECT_THAT(old, Says("found version 13 of ai.onnx, wanted 14 at least"));
  const auto within = AsTrainingForm(*graph::ModelOfText(NormalizedGraph(
      "y = If(t) <then_branch = a () => (float[N,2] p) { p = Dropout(x) }, "
      "else_branch = b () => (float[N,2] q) { q = Identity(x) }>")));
  EXPECT_EQ(within.status().reason(), Reason::kOperator);
  EXPECT_THAT(within,
              Says("in a subgraph or a function, wanted them in the main"));
}

}  // namespace
}  // namespace assay::edit
