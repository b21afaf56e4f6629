// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/flow.h"

#include <gtest/gtest.h>

#include <string>

#include "framework/graph/model_text.h"

namespace assay::gradcheck {
namespace {

// Kills: a path that is cut, or that leads where there is none. A row has a
// graph of inputs a, b, c, the targets among these, and the outputs that carry.
TEST(Flow, FollowsWhatTheCatalogueNames) {
  const struct {
    const char* what;
    const char* text;
    std::string targets, outputs;
  } rows[] = {
      {"one node", "(float[2] a) => (float[2] y) { y = Relu(a) }", "a", "y"},
      {"a step", "(float[2] a) => (float[2] y) { y = Floor(a) }", "", ""},
      {"a step on the way",
       "(float[2] a, float[2] b) => (float[2] y) "
       "{ f = Floor(a) y = Mul(f, b) }",
       "b", "y"},
      {"no output behind it",
       "(float[2] a, float[2] b) => (float[2] y) "
       "{ z = Neg(b) i = ArgMax<axis = 0>(z) y = Neg(a) }",
       "a", "y"},
      {"an output that nothing reaches",
       "(float[2] a) => (float[2] y, float[2] z) "
       "{ z = Constant<value = float[2] {1, 2}>() y = Mul(a, z) }",
       "a", "y"},
      {"integers", "(int64[2] a) => (int64[2] y) { y = Neg(a) }", "", ""},
      {"an input that is no number of its own",
       "(float[1,1,2] a, float[3] b) => (float[1,1,4] y) "
       "{ c = Neg(b) y = Resize(a, , c) }",
       "a", "y"},
      {"what a subgraph reads",
       "(float[2] a, float[2] b, bool c) => (float[2] y) "
       "{ y = If(c) <then_branch = t () => (p) { p = Neg(a) }, "
       "else_branch = e () => (q) { q = Mul(a, b) }> }",
       "ab", "y"},
      {"a sequence",
       "(float[2] a, float[2] b, int64 c) => (float[2] y) "
       "{ s = SequenceConstruct(a, b) y = SequenceAt(s, c) }",
       "ab", "y"},
      {"an initializer",
       "(float[2] a) => (float[2] y) <float[2] b = {1, 2}> "
       "{ y = Mul(a, b) }",
       "ab", "y"},
  };
  for (const auto& row : rows) {
    const auto model = graph::ModelOfText(StrCat("g ", row.text));
    const Graph& graph = model->graph();
    const Flow flow(graph);
    std::string targets, outputs;
    for (const char* name : {"a", "b", "c"}) {
      const ValueId id = graph.FindValue(name);
      const bool is_end =
          std::ranges::find(graph.inputs, id) != graph.inputs.end() ||
          graph.FindInitializer(id) != nullptr;
      if (id != kNoValue && is_end && flow.IsTarget(id)) targets += name;
    }
    for (const ValueId id : graph.outputs) {
      if (flow.Carries(id)) outputs += graph[id].name;
    }
    EXPECT_EQ(targets, row.targets) << row.what;
    EXPECT_EQ(outputs, row.outputs) << row.what;
  }
}

}  // namespace
}  // namespace assay::gradcheck
