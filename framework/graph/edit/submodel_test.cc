// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/submodel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kChain[] =
    "g (float[2] x) => (float[2] z) <float[2] w = {1, 2}, float[2] v = {3, 4}> "
    "{ a = Relu(x) b = Mul(a, w) c = Add(b, a) z = Sub(c, v) }";

const ValueType kPair = ValueType::OfTensor(DType::kFloat32, {Dim(2)});

TEST(BoundaryOf, ListsWhatIsReadFixedAndUsedElsewhere) {
  const auto model = graph::ModelOfText(kChain);
  const Graph& graph = model->graph();
  const struct {
    std::vector<size_t> nodes;
    std::vector<std::string> inputs, initializers, outputs;
  } rows[] = {
      {{0}, {"x"}, {}, {"a"}},
      {{1}, {"a"}, {"w"}, {"b"}},
      {{0, 1}, {"x"}, {"w"}, {"a", "b"}},  // a is read by the third as well
      {{1, 2}, {"a"}, {"w"}, {"c"}},
      {{3}, {"c"}, {"v"}, {"z"}},
      {{0, 1, 2, 3}, {"x"}, {"w", "v"}, {"z"}},
  };
  for (const auto& row : rows) {
    const Boundary edge = BoundaryOf(graph, row.nodes);
    EXPECT_EQ(NamesOf(graph, edge.inputs), row.inputs);
    EXPECT_EQ(NamesOf(graph, edge.initializers), row.initializers);
    EXPECT_EQ(NamesOf(graph, edge.outputs), row.outputs);
  }
}

TEST(BoundaryOf, CountsWhatSubgraphsCapture) {
  const auto model = graph::ModelOfText(
      "g (bool c, float[2] x) => (float[2] y) { a = Relu(x) y = If(c) <"
      "then_branch = t () => (float[2] p) { p = Neg(a) }, "
      "else_branch = e () => (float[2] q) { q = Abs(x) }> }");
  const std::vector<size_t> second = {1};
  const Boundary edge = BoundaryOf(model->graph(), second);
  EXPECT_THAT(NamesOf(model->graph(), edge.inputs), ElementsAre("c", "a", "x"));
}

TEST(MakeSubmodel, HoldsTheNodesTheirPortsAndTheirInitializers) {
  const auto model = graph::ModelOfText(kChain);
  const Graph& graph = model->graph();
  const ValueId a = graph.FindValue("a");
  const ValueId b = graph.FindValue("b");
  const ValueId w = graph.FindValue("w");
  Submodel part{{1}, {{a, kPair}}, {{b, kPair}}, {}};
  const auto plain = MakeSubmodel(*model, graph, part);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  const Graph& small = (*plain)->graph();
  ASSERT_EQ(small.nodes.size(), 1U);
  EXPECT_EQ(small.nodes[0].op_type, "Mul");
  EXPECT_EQ(small.nodes[0].opset, graph.nodes[1].opset);
  EXPECT_THAT(NamesOf(small, small.inputs), ElementsAre("a"));
  EXPECT_THAT(NamesOf(small, small.outputs), ElementsAre("b"));
  ASSERT_EQ(small.initializers.size(), 1U);
  EXPECT_THAT(small.initializers[0].value.tensor()->elements<float>(),
              ElementsAre(1, 2));

  part.fixed[w] = Floats({8, 9});
  const auto fixed = MakeSubmodel(*model, graph, part);
  EXPECT_THAT(
      (*fixed)->graph().initializers[0].value.tensor()->elements<float>(),
      ElementsAre(8, 9));

  part.inputs.push_back({w, kPair});
  const auto open = MakeSubmodel(*model, graph, part);
  EXPECT_THAT((*open)->graph().initializers, IsEmpty());
  EXPECT_EQ((*open)->graph().inputs.size(), 2U);
}

TEST(MakeSubmodel, RefusesNodesWhoseInputsAreMissing) {
  const auto model = graph::ModelOfText(kChain);
  const Graph& graph = model->graph();
  const auto part = MakeSubmodel(
      *model, graph, {{1}, {}, {{graph.FindValue("b"), kPair}}, {}});
  EXPECT_FALSE(part.ok());
}

}  // namespace
}  // namespace assay::edit
