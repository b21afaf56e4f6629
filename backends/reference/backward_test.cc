// SPDX-License-Identifier: Apache-2.0
//
// The backward of kernels against the tape, which takes derivatives of the same
// formulas one operation at a time: ties and kinks, infinities and what is no
// number, broadcasting, empty tensors, in each type of gradients. And that of
// RNN, GRU and LSTM: of all outputs, by all inputs, with lengths, directions,
// layouts, peepholes and coupled gates.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
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

GradientRow MapRow(const std::string& node,
                   const std::vector<double>& values = kSpecial) {
  return GradientOf(node, StrCat("double[", values.size(), "] y"),
                    {D({std::ssize(values)}, values)});
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
    rows.push_back(MapRow(StrCat(name, "(a)")));
  }
  rows.push_back(MapRow("Gelu <approximate = \"tanh\"> (a)"));
  rows.push_back(MapRow("Elu <alpha = 2.0> (a)"));
  rows.push_back(MapRow("HardSigmoid <alpha = 0.5, beta = 0.5> (a)"));
  rows.push_back(MapRow("ThresholdedRelu <alpha = 0.5> (a)"));
  rows.push_back(MapRow("Swish <alpha = 2.0> (a)"));
  ExpectTheTapes(rows);
  ExpectTheTapesIn(kGradientTypes[1], MapRow("Shrink(a)"));
}

TEST(Backward, OfRelu) {
  const auto gradients =
      Gradients(MapRow("Relu(a)", {0, -0.0, 1, -1, kNan}), {1, 2, 3, 4, 5});
  ASSERT_TRUE(gradients.ok());
  EXPECT_THAT(NumbersOf((*gradients)[0]), ElementsAre(0, 0, 3, 0, 0));
}

/// Each special value against each, and broadcast both ways.
std::vector<GradientRow> PairRows(const std::string& node) {
  const std::vector<double> few = {0, -0.0, 1, -1, 0.5, -3, 2, 2.5, kInf, kNan};
  return {
      GradientOf(node, "double[10,10] y", {D({10, 1}, few), D({10}, few)}),
      GradientOf(node, "double[2,2,3] y",
                 {D({2, 1, 3}, {1, 2, 0.5, 4, 0.25, 3}), D({2, 1}, {1.5, 2})}),
      GradientOf(node, "double[0,2] y", {D({0, 2}, {}), D({2}, {1, 2})})};
}

TEST(Backward, OfFunctionsOfTwoElements) {
  for (const char* const node :
       {"Add(a, b)", "Sub(a, b)", "Mul(a, b)", "Div(a, b)", "Pow(a, b)",
        "Max(a, b)", "Min(a, b)", "Sum(a, b)", "Mean(a, b, a)",
        "Mod <fmod = 1> (a, b)", "Mod <fmod = 0> (a, b)", "Max(b, a, b)",
        "Min(a, b, a)"}) {
    ExpectTheTapes(PairRows(node));
  }
  ExpectTheTapes({GradientOf("PRelu(a, b)", {D({10}, {0, -0.0, 1, -1, 3, -3,
                                                      kInf, -kInf, kNan, 2}),
                                             D({1}, {0.25})}),
                  GradientOf("SwiGLU(a, b)",
                             {D({4}, {0, -1, 2, 3}), D({4}, {1, 2, -3, 0})})});
}

TEST(Backward, OfClip) {
  const GradientRow row =
      GradientOf("Clip(a, b, c)", {D({20}, kSpecial), D({}, {-1}), D({}, {3})});
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
      {GradientOf("Transpose(a)", "double[3,2] y", {a}),
       GradientOf("Concat <axis = 1> (a, b, a)", "double[2,7] y",
                  {a, D({2, 1}, {8, 9})}),
       GradientOf("y, z = Split <axis = 1, num_outputs = 2> (a)",
                  "double[2,2] y, double[2,1] z", {a}),
       GradientOf(StrCat(constant("p", "1, 0, 0, -2"), "y = Pad(a, p)"),
                  "double[3,1] y", {a}),
       GradientOf(StrCat(constant("p", "1, 2, 1, 0"), "y = Pad(a, p, b)"),
                  "double[4,5] y", {a, D({}, {7})}),
       GradientOf(StrCat(constant("p", "1, 2, 1, 2"),
                         "y = Pad <mode = \"reflect\"> (a, p)"),
                  "double[4,7] y", {a}),
       GradientOf(StrCat(constant("p", "1, 2, 0, 1"),
                         "y = Pad <mode = \"edge\"> (a, p)"),
                  "double[3,6] y", {a}),
       GradientOf(
           StrCat(constant("s", "-1"), constant("e", "-9"), constant("x", "1"),
                  constant("t", "-2"), "y = Slice(a, s, e, x, t)"),
           "double[2,2] y", {a}),
       GradientOf(StrCat(constant("s", "4, 1, 3"), "y = Expand(a, s)"),
                  "double[4,2,3] y", {a}),
       GradientOf(StrCat(constant("r", "2, 1"), "y = Tile(a, r)"),
                  "double[4,3] y", {a}),
       GradientOf("Trilu(a)", "double[2,3] y", {a}),
       GradientOf("Gather <axis = 1> (a, b)", "double[2,2,2] y",
                  {a, I({2, 2}, {0, -1, 2, 0})}),
       GradientOf("GatherElements <axis = 1> (a, b)", "double[2,2] y",
                  {a, I({2, 2}, {0, -1, 2, 2})}),
       GradientOf("ScatterElements <axis = 1> (a, b, c)", "double[2,3] y",
                  {a, I({2, 1}, {0, 2}), D({2, 1}, {8, 9})}),
       GradientOf("Where(a, b, c)", "double[2,3] y",
                  {B({3}, {1, 0, 1}), a, D({1}, {8})}),
       GradientOf("DepthToSpace <blocksize = 2> (a)", "double[1,1,2,4] y",
                  {D({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
       GradientOf("Transpose(a)", "double[3,0] y", {D({0, 3}, {})})});
}

TEST(Backward, OfCasts) {
  const GradientRow row = GradientOf("Cast <to = 10> (a)", "float16[5] y",
                                     {F({5}, {1, 1e6, -0.1, kInf, kNan})});
  ExpectTheTapes(row, kGradientTypes[1]);
  const GradientRow like =
      GradientOf("CastLike(a, b)", "double[2] y",
                 {{DType::kFloat16, {2}, {1, 2}}, D({1}, {3})});
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
      rows.push_back(
          GradientOf(StrCat("x = Constant <value_ints = [-1]> () y = ", name,
                            " <keepdims = 0> (a, x)"),
                     "double[2,2] y", {D({2, 2, 3}, of_a)}));
    }
    rows.push_back(GradientOf(
        StrCat("x = Constant <value_ints = [0, 2]> () y = ", name, "(a, x)"),
        "double[1,2,1] y", {D({2, 2, 3}, values[0])}));
    rows.push_back(GradientOf(
        StrCat("x = Constant <value_ints = [1]> () y = ", name, "(a, x)"),
        "double[2,1] y", {D({2, 0}, {})}));
  }
  for (const char* const node :
       {"GlobalMaxPool(a)", "GlobalAveragePool(a)", "GlobalLpPool(a)",
        "GlobalLpPool <p = 1> (a)", "GlobalLpPool <p = 3> (a)"}) {
    rows.push_back(GradientOf(node, "double[1,2,1,1] y",
                              {D({1, 2, 2, 2}, {1, 3, 3, -2, 0, 0, -0.0, 0})}));
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
    rows.push_back(GradientOf(node, "double[4,3] y", {D({4, 3}, values)}));
  }
  for (const char* const name : {"CumSum", "CumProd"}) {
    for (const char* const how : {"", "<exclusive = 1>", "<reverse = 1>",
                                  "<exclusive = 1, reverse = 1>"}) {
      rows.push_back(GradientOf(
          StrCat("x = Constant <value_int = 1> () y = ", name, how, "(a, x)"),
          "double[3,3] y", {D({3, 3}, {1, 2, 3, 0, 4, 0.5, -1, 0, 0})}));
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
      rows.push_back(
          GradientOf(StrCat(name, attributes, "(a, b)"), y, {scores, labels}));
      rows.push_back(GradientOf(StrCat(name, attributes, "(a, b, c)"), y,
                                {scores, labels, weights}));
    }
  }
  rows.push_back(GradientOf("y, z = SoftmaxCrossEntropyLoss(a, b)",
                            "double y, double[3,4,2] z", {scores, labels}));
  ExpectTheTapes(rows);
  rows.back().feeds[0].values.back() = kNan;
  ExpectTheTapes({rows.back()});
}

TEST(Backward, TheSettingHasTwoWords) {
  const auto network = RowBackend().Load(ModelOf(MapRow("Exp(a)").graph),
                                         {.settings = {{"backward", "none"}}});
  EXPECT_EQ(network.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(network.status().message(),
            "setting 'backward' is 'none', wanted own or tape");
}

/// A node of 3 steps, 2 sequences, 2 inputs and 2 hidden units.
struct Node {
  std::string name;
  std::string attributes;
  int64_t gates;
  int64_t directions = 1;
  bool batch_first = false;
};

GradientRow GradientRowOf(const Node& node) {
  const int64_t size = node.gates * 2;
  const int64_t d = node.directions;
  const auto of = [](const Shape& shape) {
    std::vector<double> values = Counting(*shape.NumElements());
    for (double& x : values) x /= 2;
    return D(shape, std::move(values));
  };
  const Shape x = node.batch_first ? Shape{2, 3, 2} : Shape{3, 2, 2};
  const Shape h = node.batch_first ? Shape{2, d, 2} : Shape{d, 2, 2};
  GradientRow row = {"",
                     {of(x),
                      of({d, size, 2}),
                      of({d, size, 2}),
                      of({d, 2 * size}),
                      {DType::kInt32, {2}, {3, 2}},
                      of(h)}};
  std::string names = "a b c d e f";
  std::string read = "a, b, c, d, e, f";
  std::string outputs = "double[y0,y1,y2,y3] y, double[z0,z1,z2] z";
  std::string written = "y, z";
  if (node.gates == 4) {
    row.feeds.push_back(of(h));
    row.feeds.push_back(of({d, 6}));
    names += " g h";
    read += ", g, h";
    outputs += ", double[w0,w1,w2] w";
    written += ", w";
  }
  row.graph = StrCat("net (", Declare(names, row.feeds), ") => (", outputs,
                     ") { ", written, " = ", node.name, " <hidden_size = 2",
                     node.attributes, "> (", read, ") }");
  return row;
}

std::vector<GradientRow> RowsOf(const std::vector<Node>& nodes) {
  std::vector<GradientRow> rows;
  for (const Node& node : nodes) rows.push_back(GradientRowOf(node));
  return rows;
}

const std::string kBoth = ", direction = \"bidirectional\"";

TEST(RecurrentBackward, OfRnn) {
  ExpectTheTapes(
      RowsOf({{"RNN", "", 1},
              {"RNN", ", direction = \"reverse\", activations = [\"Relu\"]", 1},
              {"RNN", kBoth + ", clip = 0.25", 1, 2},
              {"RNN", ", layout = 1", 1, 1, true}}));
}

TEST(RecurrentBackward, OfGru) {
  ExpectTheTapes(RowsOf({{"GRU", "", 3},
                         {"GRU", ", linear_before_reset = 1", 3},
                         {"GRU", kBoth, 3, 2},
                         {"GRU", ", layout = 1", 3, 1, true}}));
}

TEST(RecurrentBackward, OfLstm) {
  ExpectTheTapes(RowsOf(
      {{"LSTM", "", 4},
       {"LSTM", ", input_forget = 1", 4},
       {"LSTM", kBoth + ", layout = 1", 4, 2, true},
       {"LSTM", ", activations = [\"HardSigmoid\", \"Softsign\", \"Elu\"]",
        4}}));
}

// An input that nothing flows into has no influence, even where it is NaN.
TEST(RecurrentBackward, OfOneSequence) {
  for (const Node& node :
       std::vector<Node>{{"RNN", "", 1}, {"GRU", "", 3}, {"LSTM", "", 4}}) {
    GradientRow row = GradientRowOf(node);
    row.feeds[0].values.back() = kNan;
    ExpectTheTapes({row});
  }
}

}  // namespace
}  // namespace assay::reference
