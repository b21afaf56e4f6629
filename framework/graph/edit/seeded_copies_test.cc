// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/seeded_copies.h"

#include <set>
#include <string>

#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::edit {
namespace {

using testing::ElementsAre;

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

std::vector<std::string> Names(const Graph& graph,
                               const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) {
    names.push_back(graph[id].name);
  }
  return names;
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
  const auto many = WithSeeds(*model, std::vector<int64_t>{5, 0, 1 << 20});
  ASSERT_TRUE(many.ok()) << many.status().ToString();
  const Graph& graph = (*many)->graph();
  EXPECT_THAT(SeedsOf<int64_t>(graph), ElementsAre(5, 0, 1 << 20));
  EXPECT_EQ(SeedsOf<int64_t>((*Model::Parse((*many)->bytes()))->graph()),
            SeedsOf<int64_t>(graph));
  EXPECT_THAT(Names(graph, graph.inputs), ElementsAre("x", "r", "t"));
  EXPECT_THAT(Names(graph, graph.outputs),
              ElementsAre("y.draw0", "m.draw0", "y.draw1", "m.draw1", "y.draw2",
                          "m.draw2"));
  for (const ValueId id : graph.outputs) {
    EXPECT_EQ(graph[id].type.kind, ValueKind::kTensor);
  }
  EXPECT_EQ((*many)->opsets(), model->opsets());
  EXPECT_EQ((*many)->ir_version(), model->ir_version());
}

TEST(WithSeedsTest, ValuesBetweenNodesAreCopiedAndInitializersShared) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y) <float[2] p = {0.5, 0.25}, float[2] u> "
      "{ u = RandomUniformLike <low = 0.0, seed = 0.0> (x) b = Greater(u, p) "
      "y = Cast <to = 1> (b) }");
  const auto many = WithSeeds(*model, std::vector<int64_t>{3, 16777215});
  ASSERT_TRUE(many.ok()) << many.status().ToString();
  const Graph& graph = (*many)->graph();
  EXPECT_THAT(SeedsOf<float>(graph), ElementsAre(3, 16777215));
  ASSERT_EQ(graph.nodes.size(), 6U);
  EXPECT_THAT(Names(graph, graph.nodes[4].inputs), ElementsAre("u.draw1", "p"));
  EXPECT_EQ(std::get<float>(graph.nodes[3].Find("low")->held), 0);
  EXPECT_EQ(graph.initializers.size(), 1U);
  EXPECT_THAT(Names(graph, graph.outputs), ElementsAre("y.draw0", "y.draw1"));
}

// Kills: a model that nobody has checked and that says so nevertheless.
TEST(WithSeedsTest, OnlyWhatTheCheckerAcceptsIsChecked) {
  for (const auto& [text, is_right] :
       {std::pair{"y = Bernoulli <seed = 1.0> (x)", true},
        std::pair{"y = Bernoulli <seed = 1.0> (x, x)", false}}) {
    const auto model = graph::ModelOfText(
        StrCat("g (float[2] x) => (float[2] y) {", text, "}"));
    const auto many = WithSeeds(*model, std::vector<int64_t>{3, 4});
    ASSERT_TRUE(many.ok()) << many.status().ToString();
    EXPECT_EQ((*many)->checked(), is_right) << text;
    EXPECT_EQ(types::CheckModel(**many).ok(), is_right) << text;
  }
}

TEST(WithSeedsTest, ModelsWithoutBytesAreRefused) {
  EXPECT_FALSE(WithSeeds(Model(Model::Parts()), std::vector<int64_t>{1}).ok());
}

}  // namespace
}  // namespace assay::edit
