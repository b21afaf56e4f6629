// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/types/retype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ctest/trial/types/convert.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::retype {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph GraphOf(const std::string& text) {
  return graph::ModelOfText(text)->graph();
}

DType TypeOf(const Graph& graph, std::string_view name) {
  return graph[graph.FindValue(name)].type.dtype;
}

TEST(ConvertTensor, RoundsClampsAndTruncates) {
  const Tensor x = Floats({1.75F, -300, 0});
  EXPECT_THAT(ConvertTensor(x, DType::kInt8).elements<int8_t>(),
              ElementsAre(1, -128, 0));
  EXPECT_THAT(ConvertTensor(x, DType::kUint64).elements<uint64_t>(),
              ElementsAre(1U, 0U, 0U));
  EXPECT_THAT(ConvertTensor(x, DType::kBool).elements<bool>(),
              ElementsAre(true, true, false));
  EXPECT_THAT(ConvertTensor(x, DType::kFloat16).elements<uint16_t>(),
              ElementsAre(0x3F00, 0xDCB0, 0));
  EXPECT_THAT(ConvertTensor(x, DType::kInt4).bytes(),
              ElementsAre(std::byte{0x81}, std::byte{0}));
  const Tensor text = ConvertTensor(x, DType::kString);
  EXPECT_THAT(text.strings(), ElementsAre("1.75", "-300", "0"));
  EXPECT_THAT(ConvertTensor(text, DType::kFloat32).elements<float>(),
              ElementsAre(1.75F, -300.0F, 0.0F));
}

TEST(Retype, ChangesAllValuesOfTheVariableAndNoOther) {
  const Graph graph = GraphOf(
      "g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }");
  const std::vector<Value> inputs = {
      Floats({1, 2}), Tensor::Allocate(DType::kInt64, {1}).value()};
  ASSERT_TRUE(IsRetypable(graph));
  EXPECT_EQ(BoundType(graph, 0)->dtype, DType::kFloat32);
  const auto made = Retype(graph, inputs, 0, DType::kInt32);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(TypeOf(made->graph, "x"), DType::kInt32);
  EXPECT_EQ(TypeOf(made->graph, "y"), DType::kInt32);
  EXPECT_EQ(TypeOf(made->graph, "i"), DType::kInt64);
  EXPECT_THAT(made->inputs[0].tensor()->elements<int32_t>(), ElementsAre(1, 2));
  EXPECT_EQ(made->inputs[1].tensor()->dtype(), DType::kInt64);
}

TEST(Retype, SetsTheAttributeThatSaysTheTypeOfAnOutput) {
  const Graph graph =
      GraphOf("g (float[2] x) => (int8[2] y) { y = Cast<to = 3>(x) }");
  const auto made =
      Retype(graph, std::vector<Value>{Floats({1, 2})}, 1, DType::kInt64);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const Attribute* const to = made->graph.nodes[0].Find("to");
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(std::get<int64_t>(to->held), 7);
  EXPECT_EQ(TypeOf(made->graph, "x"), DType::kFloat32);
}

TEST(Retype, DeclinesWhatNothingSays) {
  const Graph graph = GraphOf("g (float[2] x) => (bool[2] y) { y = IsNaN(x) }");
  const auto made =
      Retype(graph, std::vector<Value>{Floats({1, 2})}, 1, DType::kBool);
  EXPECT_THAT(made.status().message(), HasSubstr("IsNaN"));
}

TEST(IsRetypable, IsForOneNodeWithoutSubgraphs) {
  struct Row {
    const char* text;
    bool retypable;
  };
  const Row rows[] = {
      {"g (float[2] x) => (float[2] y) { y = Relu(x) }", true},
      {"g (float[2] x) => (float[2] y) { a = Relu(x) y = Abs(a) }", false},
      {"g (bool c) => (float y) { y = If(c) "
       "<then_branch = a () => (float t) { t = Constant<value_float = 1.0>() },"
       " else_branch = b () => (float e) { e = Constant<value_float = 2.0>() "
       "}> }",
       false}};
  for (const Row& row : rows) {
    EXPECT_EQ(IsRetypable(GraphOf(row.text)), row.retypable) << row.text;
  }
}

}  // namespace
}  // namespace assay::retype
