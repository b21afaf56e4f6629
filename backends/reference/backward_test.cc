// SPDX-License-Identifier: Apache-2.0
//
// The backward of kernels against the tape, which takes derivatives of the same
// formulas one operation at a time: ties and kinks, infinities and what is no
// number, broadcasting, groups, pads, empty tensors, in each type of gradients.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/gradient_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

/// Kinks of activations, great and small ones, and such as are no numbers.
const std::vector<double> kSpecial = {0,    -0.0,  1,    -1,   0.5, -0.5, 3,
                                      -3,   6,     -6,   0.25, 2,   -20,  2.25,
                                      kInf, -kInf, kNan, 1.5,  200, -200};

std::string Shaped(size_t count) { return StrCat("double[", count, "]"); }

GradientRow Map(const std::string& node,
                const std::vector<double>& values = kSpecial) {
  const std::string type = Shaped(values.size());
  return {StrCat("g (", type, " a) => (", type, " y) { y = ", node, " }"),
          {D({std::ssize(values)}, values)}};
}

TEST(Backward, OfFunctionsOfOneElement) {
  std::vector<GradientRow> rows;
  for (const char* const name :
       {"Abs",       "Neg",        "Sign",    "Floor", "Ceil",
        "Round",     "Exp",        "Sqrt",    "Log",   "Reciprocal",
        "Erf",       "Sin",        "Cos",     "Tan",   "Asin",
        "Acos",      "Atan",       "Sinh",    "Cosh",  "Asinh",
        "Acosh",     "Atanh",      "Sigmoid", "Tanh",  "Softplus",
        "Softsign",  "LeakyRelu",  "Elu",     "Selu",  "Celu",
        "HardSwish", "Mish",       "Swish",   "Gelu",  "ThresholdedRelu",
        "Identity",  "HardSigmoid"}) {
    rows.push_back(Map(StrCat(name, "(a)")));
  }
  rows.push_back(Map("Gelu <approximate = \"tanh\"> (a)"));
  rows.push_back(Map("Elu <alpha = 2.0> (a)"));
  rows.push_back(Map("HardSigmoid <alpha = 0.5, beta = 0.5> (a)"));
  rows.push_back(Map("ThresholdedRelu <alpha = 0.5> (a)"));
  rows.push_back(Map("Swish <alpha = 2.0> (a)"));
  ExpectTheTapes(rows);
  ExpectTheTapesIn(kGradientTypes[1], Map("Shrink(a)"));
}

TEST(Backward, OfRelu) {
  const auto gradients =
      Gradients(Map("Relu(a)", {0, -0.0, 1, -1, kNan}), {1, 2, 3, 4, 5});
  ASSERT_TRUE(gradients.ok());
  EXPECT_THAT(NumbersOf((*gradients)[0]), ElementsAre(0, 0, 3, 0, 0));
}

/// Each special value against each, and broadcast both ways.
std::vector<GradientRow> Pairs(const std::string& node) {
  const std::vector<double> few = {0, -0.0, 1, -1, 0.5, -3, 2, 2.5, kInf, kNan};
  return {
      {StrCat("g (double[10,1] a, double[10] b) => (double[10,10] y) { y = ",
              node, " }"),
       {D({10, 1}, few), D({10}, few)}},
      {StrCat("g (double[2,1,3] a, double[2,1] b) => (double[2,2,3] y) "
              "{ y = ",
              node, " }"),
       {D({2, 1, 3}, {1, 2, 0.5, 4, 0.25, 3}), D({2, 1}, {1.5, 2})}},
      {StrCat("g (double[0,2] a, double[2] b) => (double[0,2] y) { y = ", node,
              " }"),
       {D({0, 2}, {}), D({2}, {1, 2})}}};
}

TEST(Backward, OfFunctionsOfTwoElements) {
  for (const char* const node :
       {"Add(a, b)", "Sub(a, b)", "Mul(a, b)", "Div(a, b)", "Pow(a, b)",
        "Max(a, b)", "Min(a, b)", "Sum(a, b)", "Mean(a, b, a)",
        "Mod <fmod = 1> (a, b)", "Mod <fmod = 0> (a, b)", "Max(b, a, b)",
        "Min(a, b, a)"}) {
    ExpectTheTapes(Pairs(node));
  }
  ExpectTheTapes(
      {{"g (double[10] a, double[1] b) => (double[10] y) { y = PRelu(a, b) }",
        {D({10}, {0, -0.0, 1, -1, 3, -3, kInf, -kInf, kNan, 2}),
         D({1}, {0.25})}},
       {"g (double[4] a, double[4] b) => (double[4] y) { y = SwiGLU(a, b) }",
        {D({4}, {0, -1, 2, 3}), D({4}, {1, 2, -3, 0})}}});
}

TEST(Backward, OfClip) {
  const GradientRow row = {
      "g (double[20] a, double b, double c) => (double[20] y) "
      "{ y = Clip(a, b, c) }",
      {D({20}, kSpecial), D({}, {-1}), D({}, {3})}};
  GradientRow crossed = row;  // the greatest wins
  crossed.feeds[1].values = {4};
  GradientRow least = row;
  least.graph =
      "g (double[20] a, double b) => (double[20] y) { y = Clip(a, b) }";
  least.feeds.pop_back();
  ExpectTheTapes({row, crossed, least});
}

TEST(Backward, OfMovedElements) {
  const auto constant = [](const char* name, const char* ints) {
    return StrCat(name, " = Constant <value_ints = [", ints, "]> () ");
  };
  const std::vector<double> six = {1, -2, kNan, kInf, 5, 0};
  const Feed a = D({2, 3}, six);
  ExpectTheTapes(
      {{"g (double[2,3] a) => (double[3,2] y) { y = Transpose(a) }", {a}},
       {"g (double[2,3] a, double[2,1] b) => (double[2,7] y) "
        "{ y = Concat <axis = 1> (a, b, a) }",
        {a, D({2, 1}, {8, 9})}},
       {"g (double[2,3] a) => (double[2,2] y, double[2,1] z) "
        "{ y, z = Split <axis = 1, num_outputs = 2> (a) }",
        {a}},
       {StrCat("g (double[2,3] a) => (double[3,1] y) { ",
               constant("p", "1, 0, 0, -2"), "y = Pad(a, p) }"),
        {a}},
       {StrCat("g (double[2,3] a, double b) => (double[4,5] y) { ",
               constant("p", "1, 2, 1, 0"), "y = Pad(a, p, b) }"),
        {a, D({}, {7})}},
       {StrCat("g (double[2,3] a) => (double[4,7] y) { ",
               constant("p", "1, 2, 1, 2"),
               "y = Pad <mode = \"reflect\"> (a, p) }"),
        {a}},
       {StrCat("g (double[2,3] a) => (double[3,6] y) { ",
               constant("p", "1, 2, 0, 1"),
               "y = Pad <mode = \"edge\"> (a, p) }"),
        {a}},
       {StrCat("g (double[2,3] a) => (double[2,2] y) { ", constant("s", "-1"),
               constant("e", "-9"), constant("x", "1"), constant("t", "-2"),
               "y = Slice(a, s, e, x, t) }"),
        {a}},
       {StrCat("g (double[2,3] a) => (double[4,2,3] y) { ",
               constant("s", "4, 1, 3"), "y = Expand(a, s) }"),
        {a}},
       {StrCat("g (double[2,3] a) => (double[4,3] y) { ", constant("r", "2, 1"),
               "y = Tile(a, r) }"),
        {a}},
       {"g (double[2,3] a) => (double[2,3] y) { y = Trilu(a) }", {a}},
       {"g (double[2,3] a, int64[2,2] b) => (double[2,2,2] y) "
        "{ y = Gather <axis = 1> (a, b) }",
        {a, I({2, 2}, {0, -1, 2, 0})}},
       {"g (double[2,3] a, int64[2,2] b) => (double[2,2] y) "
        "{ y = GatherElements <axis = 1> (a, b) }",
        {a, I({2, 2}, {0, -1, 2, 2})}},
       {"g (double[2,3] a, int64[2,1] b, double[2,1] c) => (double[2,3] y) "
        "{ y = ScatterElements <axis = 1> (a, b, c) }",
        {a, I({2, 1}, {0, 2}), D({2, 1}, {8, 9})}},
       {"g (bool[3] a, double[2,3] b, double[1] c) => (double[2,3] y) "
        "{ y = Where(a, b, c) }",
        {B({3}, {1, 0, 1}), a, D({1}, {8})}},
       {"g (double[1,4,1,2] a) => (double[1,1,2,4] y) "
        "{ y = DepthToSpace <blocksize = 2> (a) }",
        {D({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}},
       {"g (double[0,3] a) => (double[3,0] y) { y = Transpose(a) }",
        {D({0, 3}, {})}}});
}

TEST(Backward, OfCasts) {
  const GradientRow row = {
      "g (float[5] a) => (float16[5] y) { y = Cast <to = 10> (a) }",
      {F({5}, {1, 1e6, -0.1, kInf, kNan})}};
  ExpectTheTapes(row, kGradientTypes[1]);
  const GradientRow like = {
      "g (float16[2] a, double[1] b) => (double[2] y) { y = CastLike(a, b) }",
      {{DType::kFloat16, {2}, {1, 2}}, D({1}, {3})}};
  ExpectTheTapes(like, kGradientTypes[2]);
}

TEST(Backward, OfReductions) {
  std::vector<GradientRow> rows;
  const std::vector<std::vector<double>> values = {
      {1, 2, 0.5, -1, 0.25, 3, 2, 2, -3, 4, 4, 1},
      {0, 2, 3, 0, 0, 5, -1, -1, kInf, kNan, 1, 2},
      {0, 0, 0, -kInf, -kInf, -kInf, kNan, kNan, 1, kInf, kInf, 1}};
  for (const char* const name :
       {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin",
        "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
        "ReduceLogSumExp"}) {
    for (const auto& of_a : values) {
      rows.push_back({StrCat("g (double[2,2,3] a) => (double[2,2] y) "
                             "{ x = Constant <value_ints = [-1]> () y = ",
                             name, " <keepdims = 0> (a, x) }"),
                      {D({2, 2, 3}, of_a)}});
    }
    rows.push_back({StrCat("g (double[2,2,3] a) => (double[1,2,1] y) "
                           "{ x = Constant <value_ints = [0, 2]> () y = ",
                           name, "(a, x) }"),
                    {D({2, 2, 3}, values[0])}});
    rows.push_back({StrCat("g (double[2,0] a) => (double[2,1] y) "
                           "{ x = Constant <value_ints = [1]> () y = ",
                           name, "(a, x) }"),
                    {D({2, 0}, {})}});
  }
  for (const char* const node :
       {"GlobalMaxPool(a)", "GlobalAveragePool(a)", "GlobalLpPool(a)",
        "GlobalLpPool <p = 1> (a)", "GlobalLpPool <p = 3> (a)"}) {
    rows.push_back(
        {StrCat("g (double[1,2,2,2] a) => (double[1,2,1,1] y) { y = ", node,
                " }"),
         {D({1, 2, 2, 2}, {1, 3, 3, -2, 0, 0, -0.0, 0})}});
  }
  ExpectTheTapes(rows);
}

TEST(Backward, OfLines) {
  std::vector<GradientRow> rows;
  const std::vector<double> values = {1,    2, 0.5, 200,  200, -1,
                                      kNan, 0, 1,   0.25, 0,   0};
  for (const char* const node :
       {"Softmax(a)", "LogSoftmax(a)", "Hardmax(a)", "Softmax <axis = 0> (a)",
        "LogSoftmax <axis = 0> (a)", "LpNormalization(a)",
        "LpNormalization <p = 1> (a)", "LpNormalization <axis = 0> (a)"}) {
    rows.push_back(
        {StrCat("g (double[4,3] a) => (double[4,3] y) { y = ", node, " }"),
         {D({4, 3}, values)}});
  }
  for (const char* const name : {"CumSum", "CumProd"}) {
    for (const char* const how : {"", "<exclusive = 1>", "<reverse = 1>",
                                  "<exclusive = 1, reverse = 1>"}) {
      rows.push_back({StrCat("g (double[3,3] a) => (double[3,3] y) "
                             "{ x = Constant <value_int = 1> () y = ",
                             name, how, "(a, x) }"),
                      {D({3, 3}, {1, 2, 3, 0, 4, 0.5, -1, 0, 0})}});
    }
  }
  ExpectTheTapes(rows);
}

TEST(Backward, OfLosses) {
  std::vector<GradientRow> rows;
  const Feed scores = D({3, 4, 2}, Counting(24));
  const Feed labels = I({3, 2}, {0, 3, 1, 1, 2, 0});
  const Feed weights = D({4}, {1, 0.5, 0, 2});
  for (const char* const name :
       {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}) {
    for (const char* const reduction : {"none", "sum", "mean"}) {
      const std::string y =
          std::string(reduction) == "none" ? "double[3,2] y" : "double y";
      const std::string attributes =
          StrCat(" <reduction = \"", reduction, "\", ignore_index = 1> ");
      rows.push_back({StrCat("g (double[3,4,2] a, int64[3,2] b) => (", y,
                             ") { y = ", name, attributes, "(a, b) }"),
                      {scores, labels}});
      rows.push_back(
          {StrCat("g (double[3,4,2] a, int64[3,2] b, double[4] c) => (", y,
                  ") { y = ", name, attributes, "(a, b, c) }"),
           {scores, labels, weights}});
    }
  }
  rows.push_back(
      {"g (double[3,4,2] a, int64[3,2] b) => (double y, "
       "double[3,4,2] z) { y, z = SoftmaxCrossEntropyLoss(a, b) }",
       {scores, labels}});
  ExpectTheTapes(rows);
  rows.back().feeds[0].values.back() = kNan;
  ExpectTheTapes({rows.back()});
}

TEST(Backward, TheSettingHasTwoWords) {
  RowBackend backend;
  const GradientRow row = Map("Exp(a)");
  LoadOptions options;
  options.settings["backward"] = "none";
  const auto network = backend.Load(ModelOf(row.graph), options);
  EXPECT_EQ(network.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(network.status().message(),
            "setting 'backward' is 'none', wanted own or tape");
}

}  // namespace
}  // namespace assay::reference
