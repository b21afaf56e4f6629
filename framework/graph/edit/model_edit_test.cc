// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/model_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Model> Parsed(std::string_view text) {
  auto model = graph::ParseModelText(text);
  if (!model.ok()) throw std::invalid_argument(model.status().ToString());
  return *model;
}

std::vector<std::string> OpTypes(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes) types.push_back(node.op_type);
  return types;
}

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
  const auto model = Parsed(kMade);
  const auto fixed = WithInitializers(
      *model, {{"w", Floats({2}, {3, 4})}, {"b", Floats({2}, {5, 6})}});
  ASSERT_TRUE(fixed.ok()) << fixed.status().ToString();
  const auto bytes_only = Model::Parse((*fixed)->bytes());
  ASSERT_TRUE(bytes_only.ok()) << bytes_only.status().ToString();
  for (const auto& found : {*fixed, *bytes_only}) {
    const Graph& graph = found->graph();
    EXPECT_THAT(OpTypes(graph), ElementsAre("Mul", "Add"));
    ASSERT_EQ(graph.inputs.size(), 1U);
    const Value* w = graph.FindInitializer(graph.FindValue("w"));
    const Value* b = graph.FindInitializer(graph.FindValue("b"));
    ASSERT_TRUE(w != nullptr && b != nullptr);
    EXPECT_THAT(w->tensor()->elements<float>(), ElementsAre(3, 4));
    EXPECT_THAT(b->tensor()->elements<float>(), ElementsAre(5, 6));
  }
  // Typed once, before the weights came.
  const Graph& graph = (*fixed)->graph();
  const auto h = static_cast<size_t>(graph.FindValue("h"));
  EXPECT_EQ(graph.values[h].type.ToString(), "float32[2]");
}

TEST(WithInitializers, FixesAnInput) {
  const auto fixed =
      WithInitializers(*Parsed(kMade), {{"x", Floats({2}, {0, 1})}});
  ASSERT_TRUE(fixed.ok()) << fixed.status().ToString();
  EXPECT_TRUE((*fixed)->graph().inputs.empty());
  EXPECT_TRUE((*Model::Parse((*fixed)->bytes()))->graph().inputs.empty());
}

// Kills: a model that nobody has checked and that says so nevertheless; bytes
// that are made twice.
TEST(WithInitializers, OnlyWhatTheCheckerAcceptsIsChecked) {
  for (const auto& [text, is_right] :
       {std::pair{"y = Add(x, w)", true}, std::pair{"y = Abs(x, w)", false}}) {
    const auto model = Parsed(StrCat(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {", text, "}"));
    const auto fixed = WithInitializers(*model, {{"w", Floats({2}, {3, 4})}});
    ASSERT_TRUE(fixed.ok()) << fixed.status().ToString();
    EXPECT_EQ((*fixed)->checked(), is_right) << text;
    EXPECT_EQ(types::CheckModel(**fixed).ok(), is_right) << text;
    EXPECT_EQ((*fixed)->bytes().data(), (*fixed)->bytes().data());
    const auto again = Model::Parse((*fixed)->bytes());
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ((*again)->graph().initializers.size(), 1U);
  }
}

// Kills: types that are inferred anew from all the weights; those that numbers
// put in decide, left out.
TEST(WithInitializers, TypesAreInferredAgainOnlyWhereTheyMayChange) {
  const auto model = Parsed(
      "g (float[4] x, int64[2] s) => (float y) { b = Add(x, x) "
      "y = Reshape(b, s) }");
  const auto with_x =
      WithInitializers(*model, {{"x", Floats({4}, {1, 2, 3, 4})}});
  ASSERT_TRUE(with_x.ok()) << with_x.status().ToString();
  EXPECT_TRUE((*with_x)->inferred());
  const auto with_s = WithInitializers(*model, {{"s", Int64s({2}, {2, 2})}});
  ASSERT_TRUE(with_s.ok()) << with_s.status().ToString();
  EXPECT_FALSE((*with_s)->inferred());
}

TEST(WithInitializers, RefusesWhatDoesNotFit) {
  const auto model = Parsed(
      "g (float[4] x) => (float[2] y) { y, z = Split<num_outputs = 2>(x) }");
  const Tensor right = Floats({2}, {1, 2});
  EXPECT_EQ(WithInitializers(*model, {{"none", right}}).status().code(),
            StatusCode::kNotFound);
  EXPECT_THAT(WithInitializers(*model, {{"z", right}}).status().message(),
              HasSubstr("Split"));
  EXPECT_THAT(WithInitializers(*model, {{"x", Int64s({4}, {1, 2, 3, 4})}})
                  .status()
                  .message(),
              HasSubstr("wanted float32[4]"));
  EXPECT_FALSE(WithInitializers(*model, {{"x", right}}).ok());
}

TEST(Retyped, LeavesNoFloat32) {
  const auto wide = Retyped(
      *Parsed(
          "g (float[2] x, int64[2] i) => (float[2] y) <float[2] b = {0.5, 2}> "
          "{ c = Constant<value_floats = [0.25, 1.0]>() f = Cast<to = 1>(i) "
          "t = Constant<value = float[2] {0.1, 0.2}>() "
          "y = Sum(x, b, c, f, t) }"),
      DType::kFloat64);
  ASSERT_TRUE(wide.ok()) << wide.status().ToString();
  const auto typed = InferTypes(**wide);
  ASSERT_TRUE(typed.ok()) << typed.status().ToString();
  for (const ValueInfo& info : typed->values) {
    EXPECT_NE(info.type.dtype, DType::kFloat32) << info.name;
  }
  const Graph& graph = (*wide)->graph();
  EXPECT_THAT(
      graph.FindInitializer(graph.FindValue("b"))->tensor()->elements<double>(),
      ElementsAre(0.5, 2));
  const auto& constant = std::get<Tensor>(graph.nodes[0].Find("value")->held);
  EXPECT_THAT(constant.elements<double>(), ElementsAre(0.25, 1));
  const auto& other = std::get<Tensor>(graph.nodes[2].Find("value")->held);
  EXPECT_THAT(other.elements<double>(),
              ElementsAre(double{0.1F}, double{0.2F}));
}

TEST(Retyped, LeavesWhatAnOperatorHasInFloat32Alone) {
  const auto wide =
      Retyped(*Parsed("g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) "
                      "{ y = Resize(x, , s) }"),
              DType::kFloat64);
  ASSERT_TRUE(wide.ok()) << wide.status().ToString();
  const Graph& graph = (*wide)->graph();
  EXPECT_EQ(graph[graph.inputs[0]].type.dtype, DType::kFloat64);
  EXPECT_EQ(graph[graph.inputs[1]].type.dtype, DType::kFloat32);
}

TEST(Retyped, RoundsConstantsToHalves) {
  const auto model = Parsed(
      "g (float[1] x) => (float[1] y) <float[1] b = {0.1}> "
      "{ y = Add(x, b) }");
  const auto bits = [&](DType type) {
    const auto made = Retyped(*model, type);
    const Graph& graph = (*made)->graph();
    const Tensor& b = *graph.FindInitializer(graph.FindValue("b"))->tensor();
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
  const auto bytes = SerializeTensor(tensor, "t");
  ASSERT_TRUE(bytes.ok());
  const auto value = ParseValue(*bytes, ValueType::OfTensor(tensor));
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  EXPECT_EQ(value->tensor()->Signature(), "float32[1,2]");
  EXPECT_THAT(value->tensor()->elements<float>(), ElementsAre(1.5F, -2));
  EXPECT_FALSE(SerializeTensor(Tensor(), "t").ok());
}

}  // namespace
}  // namespace assay::edit
