// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/doubled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/names_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Kills: a second half that reads or writes what the first gives, an output
// that is missing, and an input that somebody reads.
TEST(Doubled, HasEveryNodeOnceMore) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y, float[2] h) <float[2] b = {1, 2}> "
      "{ h = Mul(x, b) y = Add(h, b) }");
  const auto both = Doubled(*model, "unread");
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  EXPECT_TRUE(types::CheckModel(**both).ok());
  const Graph& graph = (*both)->graph();
  EXPECT_THAT(NamesOf(graph, graph.inputs), ElementsAre("x", "unread"));
  EXPECT_THAT(NamesOf(graph, graph.outputs),
              ElementsAre("y", "h", "y/again", "h/again"));
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_THAT(NamesOf(graph, graph.nodes[2].inputs), ElementsAre("x", "b"));
  EXPECT_THAT(NamesOf(graph, graph.nodes[3].inputs),
              ElementsAre("h/again", "b"));
  EXPECT_EQ(graph[graph.inputs[1]].type.ToString(), "float32[2]");
  EXPECT_THAT(Doubled(*model, "h").status().message(), HasSubstr("'h'"));
}

// Kills: two bodies whose names are one, and a capture that is lost.
TEST(Doubled, KeepsSubgraphsAndOmittedOutputs) {
  const auto model = graph::ModelOfText(
      "g (bool c, float[2] x) => (float[2] y) { y = If (c) <"
      "then_branch = t () => (float[2] a) { a = Neg(x) }, "
      "else_branch = e () => (float[2] b) { b = Identity(x) }> }");
  const auto both = Doubled(*model, "unread");
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  EXPECT_TRUE(types::CheckModel(**both).ok());
  EXPECT_EQ((*both)->graph().nodes[1].Subgraphs()[1]->captures.size(), 1U);
}

}  // namespace
}  // namespace assay::edit
