// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"

namespace assay::toy {
namespace {

using testing::HasSubstr;

// Two ways from a to e, one of them by way of a node with two outputs.
constexpr std::string_view kGraph =
    "g (float[2] a, float[2] b) => (float[2] e) <float[2] w = {1.0, 2.0}, "
    "int64[1] k = {2}> "
    "{ c = Mul(a, w) d, i = TopK(b, k) f = Neg(d) e = Add(c, f) }";

std::string Names(const Graph& graph) {
  std::string names = Joined(graph.nodes, " ", &Node::op_type);
  for (const Capture& capture : graph.captures) {
    names += StrCat(" ", graph[capture.inner].name);
  }
  return names;
}

TEST(CutPart, TakesWhatLiesBetween) {
  const auto model = graph::ModelOfText(kGraph);
  const struct {
    std::vector<std::string> inputs;
    std::string output;
    std::string takes;  // nodes, then captured values
  } rows[] = {
      {{"a", "b"}, "e", "Mul TopK Neg Add w k"},
      {{"c", "b"}, "e", "TopK Neg Add k"},
      {{"a", "d"}, "e", "Mul Neg Add w"},
      {{"a", "f"}, "e", "Mul Add w"},
      {{"a"}, "c", "Mul w"},
      {{"a", "w"}, "c", "Mul"},
      {{"b"}, "b", ""},
      {{"b"}, "w", " w"},
      {{"d", "b"}, "i", "TopK k"},
  };
  for (const auto& row : rows) {
    const auto part =
        eager::CutPart(model->graph(), {row.inputs, row.output, 1});
    ASSERT_TRUE(part.ok()) << part.status().ToString();
    EXPECT_EQ(Names(*part), row.takes) << row.output;
    EXPECT_EQ(part->inputs.size(), row.inputs.size());
    EXPECT_EQ(part->outputs, std::vector{model->graph().FindValue(row.output)});
  }
}

// d is fed, so the node that computes it beside i leaves it alone.
TEST(CutPart, DoesNotWriteOverAnInput) {
  const auto model = graph::ModelOfText(kGraph);
  const auto part = eager::CutPart(model->graph(), {{"d", "b"}, "i", 1});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->nodes[0].outputs[0], kNoValue);
}

TEST(CutPart, NamesWhatIsMissing) {
  const auto model = graph::ModelOfText(kGraph);
  const struct {
    std::vector<std::string> inputs;
    std::string output;
    std::string says;
  } rows[] = {
      {{"a"}, "e", "'e' depends on 'b', which is none"},
      {{"z"}, "e", "'z' is no value of the graph"},
      {{"a"}, "z", "'z' is no value of the graph"},
      {{"a", "a"}, "c", "'a' stands twice"},
  };
  for (const auto& row : rows) {
    const auto part =
        eager::CutPart(model->graph(), {row.inputs, row.output, 1});
    ASSERT_FALSE(part.ok()) << row.says;
    EXPECT_EQ(part.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(part.status().message(), HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace assay::toy
