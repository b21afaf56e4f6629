// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "framework/graph/model.h"
#include "framework/graph/model_text.h"
#include "framework/graph/reader/proto_text.h"

namespace assay::types {
namespace {

std::string TypeOf(const Graph& graph, std::string_view name) {
  const ValueId id = graph.FindValue(name);
  return id == kNoValue ? "no such value" : graph[id].type.ToString();
}

TEST(InferTypes, FindsIntermediateTypes) {
  struct Row {
    std::string text;
    std::string value;
    std::string type;
  };
  const Row rows[] = {
      {"(float[2,3] x) => (float[3,2] y) { t = Transpose(x) y = Relu(t) }", "t",
       "float32[3,2]"},
      {"(float[N,3] x) => (int64[2] y) { t = Shape(x) y = Identity(t) }", "t",
       "int64[2]"},
      // Data propagation: the shape that Reshape gets is computed.
      {"(float[2,6] x) => (float[6,2] y) <int64[1] a = {0}, int64[1] b = {1}> {"
       "s = Shape(x) p = Gather(s, b) q = Gather(s, a)"
       "r = Concat <axis=0> (p, q) t = Reshape(x, r) y = Neg(t) }",
       "t", "float32[6,2]"},
      {"(float[2] x) => (float[2] y) { t = test.Unknown(x) y = Neg(t) }", "t",
       "none"},
      {"(float[2] x) => (float[2] y) { t = SequenceConstruct(x, x) "
       "y = ConcatFromSequence <axis=0> (t) }",
       "t", "seq(float32[2])"},
  };
  for (const Row& row : rows) {
    const auto model = reader::ModelOf("g " + row.text);
    EXPECT_EQ(TypeOf(model->graph(), row.value), "none") << row.text;
    const Result<Graph> graph = InferTypes(*model);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_EQ(TypeOf(*graph, row.value), row.type) << row.text;
  }
}

int64_t PeakBytes() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss << 10;
}

// Kills: a gigabyte for a model of a few vectors; an extent that is lost where
// it is hidden.
TEST(InferTypes, TakesLittleForLongVectors) {
  const struct {
    std::string text;
    std::string type;  // of t
  } rows[] = {
      {"(float[8000000] x) => (float[8000000] y) { t = Add(x, x) y = Relu(t) }",
       "float32[8000000]"},
      {"(float[2000,4000] x) => (float[8000000] y) <int64[1] s = {-1}> "
       "{ r = Reshape(x, s) t = Mul(r, r) y = Relu(t) }",
       "float32[8000000]"},
      {"(float[9223372036854775807] x) => (float[N] y) "
       "{ t = Sub(x, x) y = Relu(t) }",
       "float32[9223372036854775807]"},
      {"(float[5000,6] x) => (float[6,5000] y) <int64[1] a = {0}, "
       "int64[1] b = {1}> { s = Shape(x) p = Gather(s, b) q = Gather(s, a)"
       "r = Concat <axis=0> (p, q) t = Reshape(x, r) y = Neg(t) }",
       "float32[6,5000]"},
  };
  for (const auto& row : rows) {
    const int64_t before = PeakBytes();
    const Result<Graph> graph = InferTypes(*reader::ModelOf("g " + row.text));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_EQ(TypeOf(*graph, "t"), row.type) << row.text;
    EXPECT_LT(PeakBytes() - before, 100 << 20) << row.text;
  }
}

// ONNX's inference passes over Gradient.
TEST(InferTypes, GoesOnBehindAGradient) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y) { s = Mul(x, x) "
      "t = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"s\">(x) "
      "u = Neg(t) y = Relu(u) }");
  const Graph graph = *InferTypes(*model);
  EXPECT_EQ(TypeOf(graph, "t"), "float32[2]");
  EXPECT_EQ(TypeOf(graph, "u"), "float32[2]");
}

TEST(InferTypes, ReachesIntoSubgraphsAndTheirCaptures) {
  const auto model = reader::ModelOf(R"(
      g (bool c, float[2,3] x) => (float[3,2] y) {
        t = Transpose(x)
        y = If(c) <
          then_branch = p () => (float[3,2] r) { u = Neg(t) r = Relu(u) },
          else_branch = q () => (float[3,2] r) { r = Identity(t) } >
      })");
  const Graph graph = *InferTypes(*model);
  const auto& branch = *std::get<std::shared_ptr<const Graph>>(
      graph.nodes[1].Find("then_branch")->held);
  EXPECT_EQ(TypeOf(branch, "t"), "float32[3,2]") << "captured";
  EXPECT_EQ(TypeOf(branch, "u"), "float32[3,2]") << "computed";
}

TEST(InferTypes, SeesThroughFunctions) {
  const auto model = reader::ModelOf(R"(
      g (float[2,3] x) => (float[3,2] y) { t = test.f(x) y = Neg(t) }
      <domain: "test", opset_import: ["" : 28]> f (a) => (b) {
        b = Transpose(a) })");
  EXPECT_EQ(TypeOf(*InferTypes(*model), "t"), "float32[3,2]");
}

TEST(InferTypes, KeepsWhatTheModelDeclares) {
  const auto model = reader::ModelOf(R"(
      g (float[2,3] x) => (float[N,2] y) <float[M,2] t> {
        t = Transpose(x) u = Neg(t) y = Relu(u) })");
  const Graph graph = *InferTypes(*model);
  EXPECT_EQ(TypeOf(graph, "t"), "float32[M,2]");
  EXPECT_EQ(TypeOf(graph, "y"), "float32[N,2]");
  EXPECT_NE(TypeOf(graph, "u"), "none");
}

TEST(InferTypes, ReturnsATypedGraphAsItIs) {
  const auto model =
      reader::ModelOf("g (float[2] x) => (float[2] y) { y = test.Unknown(x) }");
  EXPECT_EQ(TypeOf(*InferTypes(*model), "y"), "float32[2]");
}

TEST(InferTypes, TurnsExceptionsIntoAStatus) {
  onnx::ModelProto proto = reader::ProtoOf(
      "g (float[2] x) => (float[2] y) { t = Neg(x) y = Neg(t) }");
  Model::Parts parts;
  parts.graph = (*reader::ParseProto(proto))->graph();
  proto.clear_opset_import();  // which ONNX answers with an exception
  const std::string bytes = proto.SerializeAsString();
  const auto span = reader::BytesOf(bytes);
  parts.bytes.assign(span.begin(), span.end());
  const Status status = InferTypes(Model(std::move(parts))).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr("No opset import"));
}

}  // namespace
}  // namespace assay::types
