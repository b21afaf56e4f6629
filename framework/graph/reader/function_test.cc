// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/reader/function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "framework/graph/operator.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reader {
namespace {

using ::testing::HasSubstr;

std::string NameOf(const Graph& graph, ValueId id) {
  return id == kNoValue ? "_" : graph[id].name;
}

/// "y = Add(x,x)", one node after another.
std::string Print(const Graph& graph) {
  const auto name = [&](ValueId id) { return NameOf(graph, id); };
  return Joined(graph.nodes, "; ", [&](const Node& node) {
    return StrCat(Joined(node.outputs, ",", name), " = ", node.op_type, "(",
                  Joined(node.inputs, ",", name), ")");
  });
}

KnownValues Known(const Graph& graph, std::vector<const ValueType*>& types) {
  for (const ValueInfo& info : graph.values) types.push_back(&info.type);
  return {types, {}};
}

/// The first node of a model replaced by its schema's body.
Result<Graph> Expanded(const std::string& text, int opset = 28) {
  const auto model = ModelOf("g " + text, opset);
  const Graph& graph = model->graph();
  std::vector<const ValueType*> types;
  ASSAY_ASSIGN_OR_RETURN(Graph body,
                         ExpandFunction(graph.nodes[0], Known(graph, types)));
  std::map<size_t, Graph> bodies;
  bodies.emplace(0, std::move(body));
  return Splice(graph, std::move(bodies));
}

TEST(ExpandFunction, PutsTheSchemasBodyInTheNodesPlace) {
  const struct {
    std::string text;
    std::string nodes;
    int opset = 28;
  } rows[] = {
      // By formal inputs alone.
      {"(float[2] x) => (float[2] y) { y = HardSwish(x) }",
       "y/HS_X = HardSigmoid(x); y = Mul(x,y/HS_X)"},
      {"(float[2] a) => (float[2] y) { y = SwiGLU(a, a) }",
       "y/SwishGate = Swish(a); y = Mul(y/SwishGate,a)"},
      // An omitted input is omitted in the body.
      {"(float[2] x) => (float[1] y) { y = ReduceL1(x) }",
       "y/data_abs = Abs(x); y = ReduceSum(y/data_abs,_)"},
      // Values that have the names of the body's keep theirs.
      {"(float[2] HS_X) => (float[2] y) { y = HardSwish(HS_X) "
       "z = Identity(HS_X) }",
       "y/HS_X = HardSigmoid(HS_X); y = Mul(HS_X,y/HS_X); z = Identity(HS_X)"},
  };
  for (const auto& row : rows) {
    const auto graph = Got(Expanded(row.text, row.opset));
    EXPECT_EQ(Print(graph), row.nodes);
  }
}

TEST(ExpandFunction, TypesTheBodyAndNamesTheCall) {
  const auto graph = Got(Expanded(
      "(double[2,N] x) => (double[2,N] y) { [\"act\"] y = HardSwish(x) }"));
  const ValueId inner = graph.FindValue("y/HS_X");
  EXPECT_EQ(graph[inner].type.ToString(), "float64[2,N]");
  EXPECT_TRUE(IsCurrent(graph));
  EXPECT_EQ(graph.nodes[1].Label(), "Mul in HardSwish 'act'");
}

TEST(ExpandFunction, GivesAttributesAndTheirDefaultsToTheBody) {
  // HardSwish states alpha itself; Celu's comes from the call or the schema.
  for (const auto& [call, alpha] :
       {std::pair{"Celu <alpha = 2.0> (x)", 2.0F}, {"Celu(x)", 1.0F}}) {
    const auto graph = Got(
        Expanded(StrCat("(float[2] x) => (float[2] y) { y = ", call, " }")));
    const auto constant =
        std::ranges::find_if(graph.nodes, [](const Node& node) {
          return node.op_type == "Constant" && node.Find("value_float");
        });
    ASSERT_NE(constant, graph.nodes.end()) << Print(graph);
    EXPECT_EQ(std::get<float>(constant->Find("value_float")->held), alpha);
  }
}

TEST(ExpandFunction, BodiesMayDependOnTypesAndSubgraphs) {
  const auto graph = Got(Expanded(R"(
      (float[2] other, seq(float[2]) s, float[2] w) => (seq(float[2]) y) {
        y = SequenceMap(s) <body = b (float[2] e) => (float[2] o)
                            { o = Add(e, w) }>
      })"));
  EXPECT_THAT(Print(graph), HasSubstr("Loop("));
  const auto loop = std::ranges::find(graph.nodes, "Loop", &Node::op_type);
  const Graph& body = BodyOf(*loop, "body");
  // The body's subgraph captures what the subgraph captured.
  const ValueId w = graph.FindValue("w");
  EXPECT_NE(std::ranges::find(body.captures, w, &Capture::outer),
            body.captures.end());
}

TEST(ExpandFunction, ABodyMayLackTheOutputsThatTheCallOmits) {
  const auto graph =
      Got(Expanded("(float[2,3] s, int64[2] l) => (float y) "
                   "{ y = SoftmaxCrossEntropyLoss(s, l) }"));
  EXPECT_EQ(NameOf(graph, graph.nodes.back().outputs[0]), "y");
}

TEST(ExpandFunction, WithoutABodyThereIsNone) {
  for (const std::string text :
       {"(float[2] x) => (float[2] y) { y = Neg(x) }",
        "(float[2] x) => (float[2] y) { y = test.HardSwish(x) }"}) {
    EXPECT_EQ(Expanded(text).status().code(), StatusCode::kNotFound) << text;
  }
}

Result<Graph> Inlined(const std::string& text) {
  const auto model = ParseProto(ProtoOf(text));
  if (!model.ok()) return model.status();
  EXPECT_TRUE(CallsFunctions(**model));
  ASSAY_ASSIGN_OR_RETURN(Graph typed, InferTypes(**model));
  return InlineFunctions(std::move(typed), **model);
}

TEST(InlineFunctions, ReplacesCallsAtEveryDepth) {
  const struct {
    std::string text;
    std::string nodes;
  } rows[] = {
      {R"(g (float[2] x) => (float[2] y) { y = test.twice(x) }
          <domain: "test", opset_import: ["" : 28]>
          twice (u) => (v) { v = Add(u, u) })",
       "y = Add(x,x)"},
      {R"(g (float[2] x) => (float[2] y) { y = test.f(x) }
          <domain: "test", opset_import: ["" : 28, "test" : 1]>
          f (u) => (v) { t = test.h(u)  v = test.h(t) }
          <domain: "test", opset_import: ["" : 28]>
          h (u) => (v) { v = Neg(u) })",
       "y/t = Neg(x); y = Neg(y/t)"},
      // An output that is an input is copied.
      {R"(g (float[2] x) => (float[2] y) { y = test.f(x) }
          <domain: "test", opset_import: ["" : 28]> f (u) => (u) { })",
       "y = Identity(x)"},
      // An omitted input stays omitted.
      {R"(g (float[2] x) => (float[2] y) { y = test.f(x) }
          <domain: "test", opset_import: ["" : 28]>
          f (u, low, high) => (v) { v = Clip(u, low, high) })",
       "y = Clip(x,_,_)"},
  };
  for (const auto& row : rows) {
    const auto graph = Got(Inlined(row.text));
    EXPECT_EQ(Print(graph), row.nodes);
  }
}

TEST(InlineFunctions, ReachesIntoSubgraphs) {
  const auto graph = Got(Inlined(R"(
      g (bool c, float[2] x) => (float[2] y) {
        y = If(c) < then_branch = t () => (float[2] r) { r = test.f(x) },
                    else_branch = e () => (float[2] r) { r = Neg(x) } >
      }
      <domain: "test", opset_import: ["" : 28]> f (u) => (v) { v = Abs(u) })"));
  const Graph& branch = BodyOf(graph.nodes[0], "then_branch");
  EXPECT_EQ(Print(branch), "r = Abs(x)");
}

TEST(InlineFunctions, KeepsTheOpsetOfTheFunction) {
  const auto graph = Got(Inlined(R"(
      g (float[1,2] x) => (float[2] y) { y = test.f(x) }
      <domain: "test", opset_import: ["" : 11]>
      f (u) => (v) { v = Squeeze <axes = [0]> (u) })"));
  EXPECT_EQ(graph.nodes[0].opset, 11);
  EXPECT_TRUE(ToCurrentOpset(graph).ok());
}

TEST(InlineFunctions, BoundsWhatAFewBytesClaim) {
  // Each function calls the next one twice: 2^40 nodes.
  std::string text = "g (float[1] x) => (float[1] y) { y = test.f0(x) }\n";
  for (int i = 0; i < 40; ++i) {
    text += StrCat(
        "<domain: \"test\", opset_import: [\"\" : 28, \"test\" : 1]>"
        " f",
        i, " (u) => (v) { t = test.f", i + 1, "(u) v = test.f", i + 1,
        "(t) }\n");
  }
  text +=
      "<domain: \"test\", opset_import: [\"\" : 28]> f40 (u) => (v) "
      "{ v = Neg(u) }";
  EXPECT_THAT(Inlined(text).status(), IsStatus(StatusCode::kResourceExhausted,
                                               "more than 200000 nodes"));
}

TEST(InlineFunctions, RefusesRecursionThroughADefaultAndASecondDefinition) {
  onnx::ModelProto proto = ProtoOf(R"(
      g (bool c, float[1] x) => (float[1] y) { y = test.f(c, x) }
      <domain: "test", opset_import: ["" : 28, "test" : 1]>
      f (c, x) => (v) { v = Identity(x) })");
  onnx::ModelProto twice = proto;
  *twice.add_functions() = proto.functions(0);
  EXPECT_THAT(ParseProto(twice), Says("'f' is defined twice"));
  onnx::AttributeProto* body =
      proto.mutable_functions(0)->add_attribute_proto();
  body->set_name("body");
  body->set_type(onnx::AttributeProto::GRAPH);
  EXPECT_TRUE(ParseProto(proto).status().code() == StatusCode::kInvalidArgument)
      << "a graph without a value";
  *body->mutable_g()->add_node() = proto.graph().node(0);
  body->mutable_g()->mutable_node(0)->clear_input();
  EXPECT_THAT(ParseProto(proto), Says("'f' calls itself"));
}

}  // namespace
}  // namespace assay::reader
