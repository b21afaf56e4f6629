// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/number_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/draw/fresh_input.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::draw {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr int64_t kUnknown = kUnknownExtent;

// Kills: an operator that is given what it cannot take, a set of another input
// or of no extent, and an extent of another axis.
TEST(PermittedOf, IsOfTheOperatorsThatReadAValue) {
  using enum NumberSet;
  const struct {
    const char* model;  // of which the first input is asked
    NumberSet set;
    int64_t extent = kUnknown;
  } rows[] = {
      {"float[2] x) => (float[2] y) { y = Neg(x) }", kAll},
      {"float[2] v, float[1,2,3] x, float[2] s) => (float[1,2,3] y) "
       "{ y = BatchNormalization(x, s, s, s, v) }",
       kPositive},
      {"float[2] s, float[1,2,3] x, float[2] v) => (float[1,2,3] y) "
       "{ y = BatchNormalization(x, s, s, s, v) }",
       kAll},
      {"float s, float[2] x) => (uint8[2] y) { y = QuantizeLinear(x, s) }",
       kPositive},
      {"float[2] x) => (float[2] y) { y = Acosh(x) }", kBeyondOne},
      {"float[2] x) => (float[2] y) { y = Atanh(x) }", kInsideOne},
      {"float[2] x) => (float[2] y) { y = Bernoulli(x) }", kShares},
      {"int32[2] b, int32[2] a) => (int32[2] y) { y = Div(a, b) }", kNotZero},
      // Behind a change of shape, and by the stricter of two readers.
      {"float[2] x) => (float[2] y, float[1,2] z) <int64[1] a = {0}> "
       "{ u = Unsqueeze(x, a) z = Acosh(u) y = Log(x) }",
       kBeyondOne},
      {"float[2] x) => (float[2] y) { n = Neg(x) y = Log(n) }", kAll},
      // A whole exponent takes any base.
      {"float[2] x) => (float[2] y) <float e = {2}> { y = Pow(x, e) }", kAll},
      {"float[2] x) => (float[2] y) "
       "{ e = Constant <value = float {3}> () y = Pow(x, e) }",
       kAll},
      {"float[2] x) => (float[2] y) <float e = {0.5}> { y = Pow(x, e) }",
       kPositive},
      {"float[2] x, float[2] e) => (float[2] y) { y = Pow(x, e) }", kPositive},
      {"float[2] x) => (float[2] y) <int64 e = {3}> { y = Pow(x, e) }", kAll},
      {"int64[2] i, float[5,3] x) => (float[2,3] y) { y = Gather(x, i) }",
       kBelow, 5},
      {"int64[2] i, float[5,3] x) => (float[5,2] y) "
       "{ y = Gather <axis = -1> (x, i) }",
       kBelow, 3},
      {"int64[2] i, float[5,3] x) => (float[2,3] y, float[5,2] z) "
       "{ y = Gather(x, i) z = Gather <axis = 1> (x, i) }",
       kBelow, 3},
      {"int64[1,2] i, float[5,3] x) => (float[1] y) { y = GatherND(x, i) }",
       kBelow, 3},
      {"int64[2] i, float[n,3] x) => (float[2,3] y) { y = Gather(x, i) }",
       kBelow},
      {"int64[2] i) => (float[2,3] y) <float[7,3] x = {0, 0, 0, 0, 0, 0, 0, 0, "
       "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> { y = Gather(x, i) }",
       kBelow, 7},
      {"int64[2] i, float[2] v) => (float[2,6] y) <int64 d = {6}> "
       "{ y = OneHot(i, d, v) }",
       kBelow, 6},
      {"int64[2] i, int64 d, float[2] v) => (float[2,n] y) "
       "{ y = OneHot(i, d, v) }",
       kBelow},
      {"int64[1] k, float[4,9] x) => (float[4,n] y, int64[4,n] i) "
       "{ y, i = TopK(x, k) }",
       kUpTo, 9},
      {"int32[2] n, float[2,5,3] x, float[1,4,3] w, float[1,4,4] r) "
       "=> (float[2,5,1,4] y) "
       "{ y = RNN <hidden_size = 4, layout = 1> (x, w, r, , n) }",
       kUpTo, 5},
      {"int64[2] a, float[4,9] x) => (float[1,1] y) { y = ReduceSum(x, a) }",
       kPlaces},
      {"int64[2] s, float[4] x) => (float[2,2] y) { y = Reshape(x, s) }",
       kGiven},
      {"float[4] x, int64[2] s) => (float[2,2] y) { y = Reshape(x, s) }", kAll},
      {"float[2] x) => (float[2] y) { y = test.Log(x) }", kAll},
  };
  for (const auto& row : rows) {
    const auto model = graph::ModelOfText(StrCat("g (", row.model));
    const Graph& graph = model->graph();
    const Permitted permitted = PermittedOf(graph, graph.inputs[0]);
    EXPECT_EQ(permitted.set, row.set) << row.model;
    EXPECT_EQ(permitted.extent, row.extent) << row.model;
  }
}

std::vector<double> NumbersFor(NumberSet set) {
  std::vector<double> numbers;
  for (int i = -174; i <= 174; ++i) numbers.push_back(NumberIn(set, i / 100.0));
  return numbers;
}

// Kills: a variance that is negative, a share beyond 1, and numbers that are
// all alike.
TEST(NumberIn, IsANumberOfTheSet) {
  const struct {
    NumberSet set;
    double least, greatest;
  } rows[] = {
      {NumberSet::kAll, -1.74, 1.74},     {NumberSet::kNotZero, -1.74, 1.74},
      {NumberSet::kPositive, 0.25, 1.99}, {NumberSet::kBeyondOne, 1.25, 2.99},
      {NumberSet::kShares, 0, 0.87},      {NumberSet::kInsideOne, -0.87, 0.87}};
  for (const auto& row : rows) {
    const auto [least, greatest] = std::ranges::minmax(NumbersFor(row.set));
    EXPECT_DOUBLE_EQ(least, row.least) << static_cast<int>(row.set);
    EXPECT_DOUBLE_EQ(greatest, row.greatest) << static_cast<int>(row.set);
  }
}

Result<Tensor> FreshOf(const char* model, const Shape& shape) {
  const auto read = graph::ModelOfText(StrCat("g (", model));
  Draw draw("x", 7, "own model");
  return FreshInput(read->graph(), read->graph().inputs[0], shape, draw);
}

template <class T>
std::vector<T> FreshElements(const char* model, const Shape& shape) {
  const Tensor tensor = Got(FreshOf(model, shape));
  const auto elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

// Kills: a set that is found, and not drawn from.
TEST(FreshInput, IsOfItsSet) {
  EXPECT_THAT(
      FreshElements<float>(
          "float[99] v, float[1,99,3] x, float[99] s) => (float[1,99,3] y) "
          "{ y = BatchNormalization(x, s, s, s, v) }",
          {99}),
      Each(AllOf(Ge(0.25F), Le(2.0F))));
  const auto ends = [](std::vector<int64_t> elements) {
    const auto [least, greatest] = std::ranges::minmax(elements);
    return std::vector{least, greatest};
  };
  const struct {
    const char* model;
    std::vector<int64_t> ends;
  } rows[] = {
      {"int64[99] x) => (int64[99] y) { y = Neg(x) }", {0, 1}},
      {"int64[99] b, int64[99] a) => (int64[99] y) { y = Div(a, b) }", {1, 4}},
      {"int64[99] i, float[5] x) => (float[99] y) { y = Gather(x, i) }",
       {0, 4}},
      {"int64[99] k, float[5] x) => (float[n] y, int64[n] i) "
       "{ y, i = TopK(x, k) }",
       {1, 5}},
      {"int64[99] k, float[m] x) => (float[n] y, int64[n] i) "
       "{ y, i = TopK(x, k) }",
       {1, 1}},
      {"int64[99] a, float[5] x) => (float[1] y) { y = ReduceSum(x, a) }",
       {0, 98}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ends(FreshElements<int64_t>(row.model, {99})), row.ends)
        << row.model;
  }
  EXPECT_THAT(
      FreshOf("int64[2] s, float[4] x) => (float[2,2] y) { y = Reshape(x, s) }",
              {2})
          .status()
          .message(),
      HasSubstr("the input 's' is the shape of Reshape, of which not every"));
}

// Kills: a line about an operator or an input that is not there, or whose
// extent is of none.
TEST(SetLines, AreAboutInputsOfOperators) {
  for (const SetLine& line : SetLines()) {
    const size_t colons = line.op.rfind("::");
    const bool own = colons == std::string_view::npos;
    const auto op = FindOperator(own ? "" : line.op.substr(0, colons),
                                 own ? line.op : line.op.substr(colons + 2));
    ASSERT_TRUE(op.has_value()) << line.op;
    const auto& inputs = types::SignatureOf(*op).inputs;
    const auto has = [&](std::string_view name) {
      return std::ranges::find(inputs, name, &types::FormalParameter::name) !=
             inputs.end();
    };
    EXPECT_TRUE(has(line.input)) << line.op << " " << line.input;
    const bool is_extent =
        line.set == NumberSet::kUpTo || line.set == NumberSet::kBelow;
    EXPECT_EQ(has(line.of), is_extent) << line.op << " " << line.input;
    EXPECT_FALSE(line.because.empty());
  }
}

}  // namespace
}  // namespace assay::draw
