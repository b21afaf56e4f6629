// SPDX-License-Identifier: Apache-2.0
//
// Edits of initializers, types and nodes, models of a part of another, and
// models with their data in files.

#include "framework/graph/edit/model_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "framework/graph/edit/node_edit.h"
#include "framework/graph/edit/submodel.h"
#include "framework/graph/edit/whole_model.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kMade[] =
    "g (float[2] x) => (float[2] y) <int64[1] s = {2}, float[2] b = {1, 2}> "
    "{ w = ConstantOfShape(s) h = Mul(x, w) y = Add(h, b) }";

TEST(ModelText, SaysWhatIsWrong) {
  const auto wrong = graph::ParseModelText("g (float[2] x) => {");
  EXPECT_EQ(wrong.status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(wrong.status().message().empty());
  EXPECT_EQ(
      (*graph::ParseModelText("g (float x) => (float y) { y = Relu(x) }", 9))
          ->opsets()
          .find("")
          ->second,
      9);
}

TEST(WithInitializers, ReplacesWhatComputesAValue) {
  const auto model = graph::ModelOfText(kMade);
  const auto fixed = Got(WithInitializers(
      *model, {{"w", Floats({2}, {3, 4})}, {"b", Floats({2}, {5, 6})}}));
  const auto bytes_only = Got(Model::Parse(fixed->bytes()));
  for (const auto& found : {fixed, bytes_only}) {
    const Graph& graph = found->graph();
    EXPECT_THAT(OpTypesOf(graph), ElementsAre("Mul", "Add"));
    ASSERT_EQ(graph.inputs.size(), 1U);
    EXPECT_THAT(FixedOf(graph, "w").elements<float>(), ElementsAre(3, 4));
    EXPECT_THAT(FixedOf(graph, "b").elements<float>(), ElementsAre(5, 6));
  }
  // Typed once, before the weights came.
  const Graph& graph = fixed->graph();
  const auto h = static_cast<size_t>(graph.FindValue("h"));
  EXPECT_EQ(graph.values[h].type.ToString(), "float32[2]");
}

TEST(WithInitializers, FixesAnInput) {
  const auto fixed = Got(WithInitializers(*graph::ModelOfText(kMade),
                                          {{"x", Floats({2}, {0, 1})}}));
  EXPECT_TRUE(fixed->graph().inputs.empty());
  EXPECT_TRUE((*Model::Parse(fixed->bytes()))->graph().inputs.empty());
}

// Kills: a model that nobody has checked and that says so nevertheless; bytes
// that are made twice.
TEST(WithInitializers, OnlyWhatTheCheckerAcceptsIsChecked) {
  for (const auto& [text, is_right] :
       {std::pair{"y = Add(x, w)", true}, std::pair{"y = Abs(x, w)", false}}) {
    const auto model = graph::ModelOfText(StrCat(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {", text, "}"));
    const auto fixed =
        Got(WithInitializers(*model, {{"w", Floats({2}, {3, 4})}}));
    EXPECT_EQ(fixed->checked(), is_right) << text;
    EXPECT_EQ(types::CheckModel(*fixed).ok(), is_right) << text;
    EXPECT_EQ(fixed->bytes().data(), fixed->bytes().data());
    const auto again = Got(Model::Parse(fixed->bytes()));
    EXPECT_EQ(again->graph().initializers.size(), 1U);
  }
}

// Kills: types that are inferred anew from all the weights; those that numbers
// put in decide, left out.
TEST(WithInitializers, TypesAreInferredAgainOnlyWhereTheyMayChange) {
  const auto model = graph::ModelOfText(
      "g (float[4] x, int64[2] s) => (float y) { b = Add(x, x) "
      "y = Reshape(b, s) }");
  const auto with_x =
      Got(WithInitializers(*model, {{"x", Floats({4}, {1, 2, 3, 4})}}));
  EXPECT_TRUE(with_x->inferred());
  const auto with_s =
      Got(WithInitializers(*model, {{"s", Int64s({2}, {2, 2})}}));
  EXPECT_FALSE(with_s->inferred());
}

TEST(WithInitializers, RefusesWhatDoesNotFit) {
  const auto model = graph::ModelOfText(
      "g (float[4] x) => (float[2] y) { y, z = Split<num_outputs = 2>(x) }");
  const Tensor right = Floats({2}, {1, 2});
  EXPECT_EQ(WithInitializers(*model, {{"none", right}}).status().code(),
            StatusCode::kNotFound);
  EXPECT_THAT(WithInitializers(*model, {{"z", right}}), Says("Split"));
  EXPECT_THAT(WithInitializers(*model, {{"x", Int64s({4}, {1, 2, 3, 4})}}),
              Says("wanted float32[4]"));
  EXPECT_FALSE(WithInitializers(*model, {{"x", right}}).ok());
}

TEST(Retyped, LeavesNoFloat32) {
  const auto wide = Got(Retyped(
      *graph::ModelOfText(
          "g (float[2] x, int64[2] i) => (float[2] y) <float[2] b = {0.5, 2}> "
          "{ c = Constant<value_floats = [0.25, 1.0]>() f = Cast<to = 1>(i) "
          "t = Constant<value = float[2] {0.1, 0.2}>() "
          "y = Sum(x, b, c, f, t) }"),
      DType::kFloat64));
  const auto typed = Got(InferTypes(*wide));
  for (const ValueInfo& info : typed.values) {
    EXPECT_NE(info.type.dtype, DType::kFloat32) << info.name;
  }
  const Graph& graph = wide->graph();
  EXPECT_THAT(FixedOf(graph, "b").elements<double>(), ElementsAre(0.5, 2));
  const auto& constant = std::get<Tensor>(graph.nodes[0].Find("value")->held);
  EXPECT_THAT(constant.elements<double>(), ElementsAre(0.25, 1));
  const auto& other = std::get<Tensor>(graph.nodes[2].Find("value")->held);
  EXPECT_THAT(other.elements<double>(),
              ElementsAre(double{0.1F}, double{0.2F}));
}

TEST(Retyped, LeavesWhatAnOperatorHasInFloat32Alone) {
  const auto wide = Got(Retyped(
      *graph::ModelOfText("g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) "
                          "{ y = Resize(x, , s) }"),
      DType::kFloat64));
  const Graph& graph = wide->graph();
  EXPECT_EQ(graph[graph.inputs[0]].type.dtype, DType::kFloat64);
  EXPECT_EQ(graph[graph.inputs[1]].type.dtype, DType::kFloat32);
  const auto quantized =
      Got(Retyped(*graph::ModelOfText("g (float[2] x) => (uint8[2] y) "
                                      "{ y, s, p = DynamicQuantizeLinear(x) }"),
                  DType::kFloat64));
  const Graph& kept = quantized->graph();
  EXPECT_EQ(kept[kept.inputs[0]].type.dtype, DType::kFloat32);
}

TEST(Retyped, RoundsConstantsToHalves) {
  const auto model = graph::ModelOfText(
      "g (float[1] x) => (float[1] y) <float[1] b = {0.1}> "
      "{ y = Add(x, b) }");
  const auto bits = [&](DType type) {
    const auto made = Retyped(*model, type);
    const Graph& graph = (*made)->graph();
    const Tensor& b = FixedOf(graph, "b");
    EXPECT_EQ(b.dtype(), type);
    uint16_t pattern = 0;
    std::memcpy(&pattern, b.data(), sizeof pattern);
    return pattern;
  };
  EXPECT_EQ(bits(DType::kFloat16), 0x2E66);
  EXPECT_EQ(bits(DType::kBFloat16), 0x3DCD);
  EXPECT_FALSE(Retyped(*model, DType::kInt32).ok());
}

TEST(SerializeTensor, IsReadBack) {
  const Tensor tensor = Floats({1, 2}, {1.5F, -2});
  const auto bytes = Got(SerializeTensor(tensor, "t"));
  const auto value = Got(ParseValue(bytes, ValueType::OfTensor(tensor)));
  EXPECT_EQ(value.tensor()->Signature(), "float32[1,2]");
  EXPECT_THAT(value.tensor()->elements<float>(), ElementsAre(1.5F, -2));
  EXPECT_FALSE(SerializeTensor(Tensor(), "t").ok());
}

constexpr char kLayer[] =
    "g (float[N,2] x) => (float[N,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}> "
    "{ h = MatMul(x, w) y = LeakyRelu<alpha = 0.5>(h) }";

TEST(AddNodesTest, PutsThemBehindTheOthers) {
  const auto model = graph::ModelOfText(kLayer);
  const auto more =
      Got(AddNodes(*model, "a = Neg(h) b = ReduceSum<keepdims = 0>(a)"));
  EXPECT_THAT(OpTypesOf(more->graph()),
              ElementsAre("MatMul", "LeakyRelu", "Neg", "ReduceSum"));
  EXPECT_EQ(more->graph().outputs.size(), 1U);
}

TEST(AddOutputTest, HasTheTypeThatInferenceFinds) {
  const auto model = graph::ModelOfText(kLayer);
  const auto more = Got(AddOutput(*model, "h"));
  const Graph& graph = more->graph();
  ASSERT_EQ(graph.outputs.size(), 2U);
  EXPECT_EQ(graph[graph.outputs[1]].name, "h");
  EXPECT_EQ(graph[graph.outputs[1]].type.ToString(), "float32[N,3]");
}

// Kills: nodes at the end of the list, behind those that read them.
TEST(ReplaceNodeTest, PutsNodesInItsPlace) {
  const auto model = graph::ModelOfText(kLayer);
  const auto other =
      Got(ReplaceNode(*model, "h", "n = Neg(x) m = MatMul(n, w) h = Exp(m)"));
  EXPECT_THAT(OpTypesOf(other->graph()),
              ElementsAre("Neg", "MatMul", "Exp", "LeakyRelu"));
}

TEST(SetAttributeTest, AddsOneOrReplacesIt) {
  const auto model = graph::ModelOfText(kLayer);
  const auto set = Got(
      SetAttribute(*model, "y", {.name = "alpha", .held = 0.25F, .ref = ""}));
  const Node& node = set->graph().nodes[1];
  ASSERT_EQ(node.attributes.size(), 1U);
  EXPECT_EQ(std::get<float>(node.attributes[0].held), 0.25F);

  const auto softmax = Got(ReplaceNode(*set, "y", "y = Softmax(h)"));
  const auto along = Got(SetAttribute(
      *softmax, "y", {.name = "axis", .held = int64_t{0}, .ref = ""}));
  EXPECT_EQ(std::get<int64_t>(along->graph().nodes[1].Find("axis")->held), 0);
}

TEST(NodeEditTest, SaysWhatIsWrong) {
  const auto model = graph::ModelOfText(kLayer);
  const struct {
    Result<std::shared_ptr<const Model>> edited;
    std::string_view message;
  } rows[] = {
      {AddNodes(*model, "a = Neg("), "Neg("},
      {AddNodes(*model, "a = Neg(v)"), "v"},
      {AddNodes(*model, "h = Neg(x)"), "h"},
      {AddNodes(*model, "a = Neg<alpha = 1>(x)"), "alpha"},
      {AddOutput(*model, "v"), "the graph has no value 'v'"},
      {AddOutput(*model, "y"), "'y' is an output already"},
      {ReplaceNode(*model, "x", "x = Neg(h)"),
       "no node of the graph computes 'x'"},
      {ReplaceNode(*model, "h", "k = MatMul(x, w)"), "h"},
      {SetAttribute(*model, "w", {.name = "a", .held = 1.0F, .ref = ""}),
       "no node of the graph computes 'w'"},
      {SetAttribute(*model, "y",
                    {.name = "alpha", .held = int64_t{1}, .ref = ""}),
       "alpha"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(row.edited, Says(row.message)) << row.message;
  }
}

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
  const auto plain = Got(MakeSubmodel(*model, graph, part));
  const Graph& small = plain->graph();
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

NamedTensors Weights() {
  return {{"w", Floats({1, 2, 3})}, {"b", Doubles({4, 5})}};
}

std::shared_ptr<const Model> Open() {
  return graph::ModelOfText(
      "g (float[3] x, double[2] b, float[3] w) => (float[3] y) "
      "{ y = Mul(x, w) }");
}

void Write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST(ExternalDataTest, BeginsEachTensorAtAMultipleOf64Bytes) {
  const std::string data = ExternalData(Weights());
  ASSERT_EQ(data.size(), 64 + 2 * sizeof(double));
  EXPECT_EQ(data.substr(12, 52), std::string(52, '\0'));
}

// Kills: an offset of another tensor, an order that is not that of the tensors.
TEST(WithDataInTest, IsReadBack) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      StrCat("assay_whole_model_", getpid());
  std::filesystem::create_directories(folder);
  const auto model = Open();
  const auto bytes = Got(WithDataIn("weights.bin", *model, Weights()));
  Write(folder / "model.onnx", bytes);
  Write(folder / "weights.bin", ExternalData(Weights()));
  const auto read = Got(Model::Read(folder / "model.onnx"));
  const Graph& graph = read->graph();
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_THAT(FixedOf(graph, "w").elements<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(FixedOf(graph, "b").elements<double>(), ElementsAre(4, 5));
  EXPECT_EQ(graph[graph.initializers[0].id].name, "w");
  EXPECT_TRUE(model->opsets().contains("test"));
  EXPECT_FALSE(read->opsets().contains("test"));
  const auto files = Got(ExternalFiles(*read));
  EXPECT_THAT(files, ElementsAre("weights.bin"));
  const auto none = Got(ExternalFiles(*model));
  EXPECT_THAT(none, IsEmpty());
  // And whole again, or, where that is too much, with its weights beside it.
  const auto whole = WholeModel(*read);
  const auto joined = Got(PartedModel(*read));
  const auto parted = Got(PartedModel(*read, bytes.size() + 27));
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  const auto parsed = Got(Model::Parse(std::as_bytes(std::span(*whole))));
  EXPECT_EQ(joined.bytes, *whole);
  EXPECT_THAT(joined.beside, IsEmpty());
  const auto base = Got(Model::Parse(std::as_bytes(std::span(parted.bytes))));
  EXPECT_EQ(base->graph().inputs.size(), 3U);
  EXPECT_THAT(base->graph().initializers, IsEmpty());
  const auto fixed = Got(WithInitializers(*base, parted.beside));
  EXPECT_THAT(FixedOf(fixed->graph(), "w").elements<float>(),
              ElementsAre(1, 2, 3));
  EXPECT_EQ(fixed->graph().inputs.size(), 1U);
}

TEST(WithDataInTest, SaysWhatIsNoInput) {
  NamedTensors weights = Weights();
  weights[0].first = "y";
  EXPECT_THAT(WithDataIn("weights.bin", *Open(), weights),
              Says("'y' is no input of the graph"));
}

// Kills: an input of an older version, taken for the one that stands at its
// place today.
TEST(Retyped, OlderVersionsKeepWhatTheyHaveInNoOtherType) {
  const auto model = graph::ModelOfText(
      "g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) { y = Resize(x, s) }",
      10);
  for (const DType type : {DType::kFloat16, DType::kFloat64}) {
    const auto retyped = Got(Retyped(*model, type));
    const Graph& graph = retyped->graph();
    EXPECT_EQ(graph[graph.inputs[0]].type.dtype, type);
    EXPECT_EQ(graph[graph.inputs[1]].type.dtype, DType::kFloat32);
    EXPECT_EQ(graph[graph.outputs[0]].type.dtype, type);
  }
}

}  // namespace
}  // namespace assay::edit
