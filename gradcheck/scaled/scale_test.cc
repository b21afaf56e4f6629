// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/scaled/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/support/statuses_fixture.h"
#include "gradcheck/case/subject.h"

namespace assay::gradcheck {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

/// The shape of a value of the model, "?" where inference finds none.
std::string ShapeIn(const Model& model, std::string_view name) {
  const auto graph = InferTypes(model);
  if (!graph.ok()) return graph.status().ToString();
  const ValueId id = graph->FindValue(name);
  if (id == kNoValue) return "?";
  const auto shape = (*graph)[id].type.StaticShape();
  return shape.has_value() ? shape->ToString() : "?";
}

/// The message for a model in text that cannot be scaled down.
std::string Refused(const std::string& text, const Scale& scale) {
  return ScaledDown(*graph::ModelOfText("g (" + text, 9), scale)
      .status()
      .ToString();
}

constexpr char kNet[] =
    "float[1,3,16,16] x) => (float[1,20] y) <int64[4] n1 = {16,3,3,3}, "
    "int64[4] n2 = {32,8,1,1}, int64[4] n3 = {32,1,3,3}, int64[1] m = {32}, "
    "int64[5] t5 = {1,2,16,8,8}, int64[4] t4 = {1,32,8,8}, "
    "int64[2] f = {1,48}, int64[2] n4 = {20,48}, int64[1] n5 = {20}> {"
    "w1 = ConstantOfShape(n1) w2 = ConstantOfShape(n2) "
    "w3 = ConstantOfShape(n3) s = ConstantOfShape(m) w4 = ConstantOfShape(n4) "
    "b4 = ConstantOfShape(n5) c1 = Conv<pads=[1,1,1,1],strides=[2,2]>(x, w1) "
    "c2 = Conv<group=2>(c1, w2) v = BatchNormalization(c2, s, s, s, s) "
    "u = Unsqueeze<axes=[1,2]>(s) k = Mul(v, u) h1 = Reshape(k, t5) "
    "h2 = Transpose<perm=[0,2,1,3,4]>(h1) h = Reshape(h2, t4) "
    "c3 = Conv<group=32,pads=[1,1,1,1]>(h, w3) a = Sum(c3, k) r = Relu(a) "
    "j = Concat<axis=1>(r, c1) p = AveragePool<kernel_shape=[8,8]>(j) "
    "q = Reshape(p, f) g4 = Gemm<transB=1>(q, w4, b4) y = Softmax(g4) }";

// Kills: a shape that does not follow, a node that goes, a weight of another
// extent than its reader's, a pool that no longer takes the whole image.
TEST(ScaledDown, DividesChannelsAndKeepsEveryNode) {
  const auto model = graph::ModelOfText(std::string("g (") + kNet, 9);
  const auto scaled = Got(ScaledDown(*model, {.divisor = 4, .image = 6}));
  EXPECT_TRUE(types::CheckModel(*scaled).ok());
  const std::vector<Node>& nodes = scaled->graph().nodes;
  ASSERT_EQ(nodes.size(), model->graph().nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].op_type, model->graph().nodes[i].op_type);
  }
  const struct {
    const char *name, *shape;
  } rows[] = {
      {"x", "[1,3,6,6]"},    {"w1", "[4,3,3,3]"}, {"c1", "[1,4,3,3]"},
      {"w2", "[8,2,1,1]"},   {"c2", "[1,8,3,3]"}, {"s", "[8]"},
      {"k", "[1,8,3,3]"},    {"u", "[8,1,1]"},    {"h1", "[1,2,4,3,3]"},
      {"h2", "[1,4,2,3,3]"}, {"h", "[1,8,3,3]"},  {"w3", "[8,1,3,3]"},
      {"j", "[1,12,3,3]"},   {"p", "[1,12,1,1]"}, {"q", "[1,12]"},
      {"w4", "[6,12]"},      {"b4", "[6]"},       {"y", "[1,6]"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ShapeIn(*scaled, row.name), row.shape) << row.name;
  }
}

// Kills: a channel left alone where some are wanted, and more than there were.
TEST(ScaledDown, LeavesTheLeastNumberOfChannels) {
  const auto model = graph::ModelOfText(
      "g (float[1,3,4,4] x) => (float[1,1,4,4] y) <int64[4] n = {8,3,1,1}, "
      "int64[4] m = {1,8,1,1}> { w = ConstantOfShape(n) v = ConstantOfShape(m) "
      "c = Conv(x, w) y = Conv(c, v) }",
      9);
  const auto scaled = Got(ScaledDown(*model, {.divisor = 8, .least = 2}));
  EXPECT_EQ(ShapeIn(*scaled, "w"), "[2,3,1,1]");
  EXPECT_EQ(ShapeIn(*scaled, "v"), "[1,2,1,1]");
}

// Kills: an initializer that is not cut, or whose numbers are others.
TEST(ScaledDown, KeepsTheFirstNumbersOfAnInitializer) {
  const auto model = graph::ModelOfText(
      "g (float[1,2] x) => (float[1,4] y) <float[4,2] w = "
      "{1,2,3,4,5,6,7,8}, float[4] b = {9,8,7,6}> "
      "{ y = Gemm<transB=1>(x, w, b) }",
      9);
  const auto scaled = Got(ScaledDown(*model, {.divisor = 2}));
  const Graph& graph = scaled->graph();
  const auto numbers = [&](std::string_view name) {
    const auto held = graph.FindInitializer(graph.FindValue(name))
                          ->tensor()
                          ->elements<float>();
    return std::vector<float>(held.begin(), held.end());
  };
  EXPECT_EQ(numbers("w"), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(numbers("b"), (std::vector<float>{9, 8}));
}

// Kills: a model that is scaled to something else than it was.
TEST(ScaledDown, RefusesWhatDoesNotFollow) {
  const Scale half = {.divisor = 2};
  EXPECT_THAT(Refused("float[2,4] x) => (float[2,4] y) { y = Tanh(x) }", half),
              HasSubstr("Tanh"));
  EXPECT_THAT(Refused("float[N,4] x) => (float[N,4] y) { y = Relu(x) }", half),
              HasSubstr("wanted a static shape"));
  const std::string net = kNet;
  EXPECT_THAT(Refused(net, {.divisor = 4, .image = 2}), HasSubstr("2 pixels"));
  // Two channels of what is fed, and one of what is computed from it.
  EXPECT_THAT(
      Refused("float[1,8,2,2] x) => (float[1,8,2,2] y) <int64[4] n = {8,8,1,1}>"
              "{ w = ConstantOfShape(n) c = Conv(x, w) y = Sum(c, x) }",
              half),
      HasSubstr("wanted shapes that stay equal"));
  // One tensor of shapes for two weights.
  EXPECT_THAT(
      Refused("float[1,8,2,2] x) => (float[1,8,2,2] y) <int64[4] n = {8,8,1,1}>"
              "{ w = ConstantOfShape(n) v = ConstantOfShape(n) c = Conv(x, w) "
              "y = Conv(c, v) }",
              half),
      HasSubstr("wanted one"));
}

TEST(Regrouped, SplitsAndJoinsExtents) {
  const struct {
    Shape old_input, old_output, input, output;
  } rows[] = {
      {{1, 112, 56, 56}, {1, 4, 28, 56, 56}, {1, 8, 7, 7}, {1, 4, 2, 7, 7}},
      {{1, 28, 4, 56, 56}, {1, 112, 56, 56}, {1, 2, 4, 7, 7}, {1, 8, 7, 7}},
      {{1, 256, 6, 6}, {1, 9216}, {1, 8, 2, 2}, {1, 32}},
      {{1, 64, 1, 1}, {1, 64}, {1, 2, 1, 1}, {1, 2}},
      {{1, 1, 10, 8}, {10, 8}, {1, 1, 5, 2}, {5, 2}},
      {{10, 8}, {1, 1, 10, 8}, {5, 2}, {1, 1, 5, 2}},
      {{64, 1, 1}, {64}, {2, 1, 1}, {2}},
  };
  for (const auto& row : rows) {
    const auto output =
        Got(Regrouped(row.old_input, row.old_output, row.input));
    EXPECT_EQ(output.ToString(), row.output.ToString());
  }
  // Parts that do not tell which of them shrinks, or do not divide.
  EXPECT_FALSE(Regrouped({4, 6}, {8, 3}, {2, 6}).ok());
  EXPECT_FALSE(Regrouped({12}, {4, 3}, {6}).ok());
  EXPECT_FALSE(Regrouped({64}, {32}, {2}).ok());
}

std::vector<std::string> OperatorsOf(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes) {
    // Weights stand in a case as initializers.
    if (node.op_type != "ConstantOfShape") operators.push_back(node.op_type);
  }
  return operators;
}

// Kills: a model that is left out, one that loses a node, a weight that is no
// target, one whose numbers are all the same, and one that is too large.
TEST(ScaledCorpus, HasEveryNodeOfTheLightModels) {
  constexpr int64_t kMost = 12'000;
  const auto corpus = Got(cases::ReadCorpus(ASSAY_SCALED));
  EXPECT_EQ(corpus.cases.size(), 9U);
  for (const cases::TestCase& c : corpus.cases) {
    SCOPED_TRACE(c.test_id);
    const std::string name = c.directory.filename().string();
    const auto light = Got(
        Model::Read(fs::path(ASSAY_LIGHT) / ("test_" + name) / "model.onnx"));
    const auto data = Got(cases::ReadCaseInputs(c.directory, 1));
    const Graph& graph = data.model->graph();
    EXPECT_EQ(OperatorsOf(graph), OperatorsOf(light->graph()));
    EXPECT_TRUE(types::CheckModel(*data.model).ok());
    const Flow flow(graph);
    int64_t count = 0;
    for (const Initializer& fixed : graph.initializers) {
      const Tensor& tensor = *fixed.value.tensor();
      if (tensor.dtype() != DType::kFloat32) continue;
      EXPECT_TRUE(flow.IsTarget(fixed.id)) << graph[fixed.id].name;
      const auto numbers = tensor.elements<float>();
      EXPECT_TRUE(numbers.size() == 1 ||
                  std::set<float>(numbers.begin(), numbers.end()).size() > 1)
          << graph[fixed.id].name;
      count += tensor.num_elements();
    }
    EXPECT_LE(count, kMost);
    EXPECT_GE(count, kMost / 2);
  }
}

// Kills: a scale that is taken although it leaves too many, and a folder
// without models that passes for a corpus.
TEST(ScaledCorpus, IsOfModelsThatCanBeScaled) {
  const auto light =
      Got(Model::Read(fs::path(ASSAY_LIGHT) / "test_vgg19" / "model.onnx"));
  EXPECT_EQ(ScaleWithin(*light, 100).status().code(),
            StatusCode::kResourceExhausted);
  const auto scale = Got(ScaleWithin(*light, 12'000));
  EXPECT_EQ(scale.image, 32);
  EXPECT_EQ(WriteScaledCorpus("/nonexistent", "/nonexistent").code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::gradcheck
