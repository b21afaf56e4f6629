// SPDX-License-Identifier: Apache-2.0
//
// Gradients of nodes that run again on a tape, and of some kernels with a
// backward of their own (backward_test.cc has all): against central differences
// in float64, and the conventions that no difference can show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/gradient_rows.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pointwise;

// Values away from kinks and zeros.
const std::vector<GradientRow> kGradientRows = {
    GradientOf("Relu(a)", {D({3}, {-1.5, 0.5, 2})}),
    GradientOf("Add(a, b)", "double[2,3] y",
               {D({2, 1}, {1, 2}), D({3}, {3, 4, 5})}),
    GradientOf("Sub(a, b)", {D({2}, {1, 2}), D({}, {3})}),
    GradientOf("Mul(a, b)", "double[2,3] y",
               {D({2, 1}, {1, 2}), D({1, 3}, {3, 4, 5})}),
    GradientOf("Div(a, b)", {D({2}, {1, -2}), D({1}, {1.5})}),
    GradientOf("MatMul(a, b)", "double[2,3] y",
               {D({2, 2}, {1, 2, 3, 4}), D({2, 3}, {1, -1, 2, 0.5, 3, 1})}),
    GradientOf("MatMul(a, b)", {D({2}, {1, 2}), D({2, 2}, {1, -1, 2, 0.5})}),
    GradientOf("MatMul(a, b)", "double[2,1,1] y",
               {D({2, 1, 2}, {1, 2, 3, 4}), D({2, 2, 1}, {1, -1, 2, 0.5})}),
    // Both sides repeat along a batch axis, whose gradients are sums.
    GradientOf(
        "MatMul(a, b)", "double[2,3,1,1] y",
        {D({2, 1, 1, 2}, {1, 2, 3, 4}), D({3, 2, 1}, {1, -1, 2, 0.5, 3, 1})}),
    GradientOf(
        "Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, b, c)",
        "double[3,2] y",
        {D({2, 3}, {1, 2, 3, 4, 5, 6}), D({2, 2}, {1, -1, 2, 0.5}),
         D({2}, {1, 2})}),
    GradientOf("s = Constant <value_ints = [4]> () m = Mul(a, a) n = Add(m, b) "
               "y = Reshape(n, s)",
               "double[4] y", {D({2, 2}, {1, 2, 3, 4}), D({2}, {1, 2})}),
};

// The same, on a tape too.
const std::vector<GradientRow> kMore = {
    GradientOf("Softsign(a)", {D({3}, {-1.5, 0.5, 2})}),
    GradientOf("Pow(a, b)", {D({2}, {1.5, 0.5}), D({2}, {2.5, -1})}),
    // A value that is read twice.
    GradientOf("Pow(a, a)", {D({2}, {1.5, 0.5})}),
    // Two values in one place of memory.
    GradientOf("h = Identity(a) y = Pow(a, h)", {D({2}, {1.5, 0.5})}),
    GradientOf("s = Constant <value_ints = [1]> () y = ReduceLogSumExp "
               "<keepdims = 0> (a, s)",
               "double[2] y", {D({2, 3}, {1, 2, 0.5, -1, 0.25, 3})}),
    GradientOf("Conv(a, b, c)", "double[1,2,2,2] y",
               {D({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                D({2, 1, 2, 2}, {1, -1, 0.5, 2, 3, -2, 1, 0.25}),
                D({2}, {0.5, -0.5})}),
    GradientOf("MaxPool <kernel_shape = [2, 2]> (a)", "double[1,1,2,2] y",
               {D({1, 1, 3, 3}, {3, 1, 2, 9, 5, 4, 6, 8, 7})}),
    GradientOf("LayerNormalization(a, b, c)",
               {D({2, 3}, {1, 2, 4, -1, 0.25, 3}), D({3}, {1, 2, 0.5}),
                D({3}, {0, 1, 2})}),
    GradientOf("i = Constant <value_ints = [2, 0, 2]> () y = Gather(a, i)",
               {D({3}, {1, 2, 3})}),
    GradientOf("Concat <axis = 0> (a, b, a)", "double[5] y",
               {D({2}, {1, 2}), D({1}, {3})}),
    GradientOf("Softmax(a)", {D({2, 3}, {1, 2, 0.5, -1, 0.25, 3})}),
    GradientOf("LSTM <hidden_size = 1> (a, b, c, d)", "double[2,1,1,1] y",
               {D({2, 1, 2}, {1, -0.5, 0.25, 2}),
                D({1, 4, 2}, {0.5, -1, 0.25, 1, 0.75, 0.5, -0.25, 1}),
                D({1, 4, 1}, {0.5, -0.5, 1, 0.25}),
                D({1, 8}, {0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, 0.5})}),
    GradientOf("s = Constant <value_floats = [1.3]> () y = Resize <mode = "
               "\"linear\", axes = [2]> (a, , s)",
               "double[1,1,5] y", {D({1, 1, 4}, {1, 3, 2, 5})}),
    // 3.86 steps are 4, and stay so.
    GradientOf("Range(a, b, c)", "double[4] y",
               {D({}, {0.5}), D({}, {3.2}), D({}, {0.7})}),
    GradientOf("t = Constant <value = bool {1}> () y = If(t) <then_branch = n "
               "() => (double[2] p) { h = Mul(a, b) p = Mul(h, a) }, "
               "else_branch = e () => (double[2] q) { q = Exp(b) }>",
               {D({2}, {1, 2}), D({2}, {3, -1})}),
    // The state, a capture, and what an iteration gives.
    GradientOf("m = Constant <value_int = 3> () t = Constant <value = bool "
               "{1}> () v, y = Loop(m, t, a) <body = l (int64 i, bool go, "
               "double[2] u) => (bool ok, double[2] w, double[2] s) { ok = "
               "Identity(go) s = Sin(u) w = Mul(s, b) }>",
               "double[3,2] y", {D({2}, {0.25, 0.5}), D({2}, {0.75, -1})}),
    GradientOf(
        "v, y = Scan <num_scan_inputs = 1, body = l (double[2] u, double[2] x) "
        "=> (double[2] w, double[2] s) { w = Mul(u, x) s = Tanh(w) }> (a, b)",
        "double[3,2] y", {D({2}, {1, 2}), D({3, 2}, {3, -1, 0.5, 1, 2, 1})}),
};

/// Sum of weight[i] * y[i], the weights being 1, 2, 3, ...
double Weighted(const std::string& graph, const std::vector<Feed>& feeds) {
  double sum = 0;
  double weight = 0;
  for (const double y : NumbersOf(OutputsOf(graph, feeds)[0])) {
    sum += ++weight * y;
  }
  return sum;
}

std::vector<double> Differences(const GradientRow& row, size_t input) {
  constexpr double kStep = 1e-5;
  std::vector<double> differences;
  for (size_t i = 0; i < row.feeds[input].values.size(); ++i) {
    std::vector<Feed> above = row.feeds;
    std::vector<Feed> below = row.feeds;
    above[input].values[i] += kStep;
    below[input].values[i] -= kStep;
    differences.push_back(
        (Weighted(row.graph, above) - Weighted(row.graph, below)) /
        (2 * kStep));
  }
  return differences;
}

void ExpectCentralDifferences(const std::vector<GradientRow>& rows, By by) {
  for (const GradientRow& row : rows) {
    const auto gradients = Gradients(row, {}, by);
    ASSERT_TRUE(gradients.ok()) << row.graph << gradients.status().ToString();
    for (size_t k = 0; k < row.feeds.size(); ++k) {
      const std::vector<double> wanted = Differences(row, k);
      const std::vector<double> got = NumbersOf((*gradients)[k]);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], wanted[i], 1e-7 * (1 + std::abs(wanted[i])))
            << row.graph << " input " << k << " element " << i;
      }
    }
  }
}

TEST(Gradients, AgreeWithCentralDifferences) {
  ExpectCentralDifferences(kGradientRows, By::kKernel);
  ExpectCentralDifferences(kMore, By::kKernel);
}

TEST(RetapedGradients, AgreeWithCentralDifferences) {
  ExpectCentralDifferences(kMore, By::kTape);
}

/// Within the oracle's bound and two units in the last place of the greatest of
/// the input's.
void ExpectTheOracles(const GradientRow& row, double unit, By by = By::kTape) {
  const auto gradients = Gradients(row, {}, by);
  ASSERT_TRUE(gradients.ok()) << row.graph << gradients.status().ToString();
  const auto network = NetworkOf(row.graph, {.exact = true});
  const std::vector<assay::Value> inputs = ValuesOf(row.feeds);
  std::vector<std::string> targets;
  for (const ValueInfo& input : network->inputs())
    targets.push_back(input.name);
  const auto run = *network->exact()->At(inputs, targets);
  const auto values = *run->Evaluate(Precision::kDouble);
  const assay::Value cotangent = CotangentOf(*values[0].value.tensor(), {});
  const auto wanted = *run->Vjp({&cotangent, 1}, Precision::kDouble);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<double> got = NumbersOf((*gradients)[k]);
    const std::vector<double> truth = NumbersOf(wanted[k].value);
    double greatest = 0;
    for (const double x : truth) greatest = std::max(greatest, std::abs(x));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], truth[i],
                  2 * unit * greatest + wanted[k].bound.elements<double>()[i])
          << row.graph << " input " << k << " element " << i;
    }
  }
}

TEST(RetapedGradients, AreTheOraclesRoundedToTheTypeOfTheInput) {
  for (GradientRow row : kMore) {
    ExpectTheOracles(row, 0x1p-52);
    for (size_t at; (at = row.graph.find("double")) != std::string::npos;) {
      row.graph.replace(at, 6, "float");
    }
    for (Feed& feed : row.feeds) feed.dtype = DType::kFloat32;
    ExpectTheOracles(row, 0x1p-23);
  }
}

// Twelve twelfths are less than one in float32, and not in float64: the loop
// has 13 iterations, on the tape as well.
TEST(RetapedGradients, ALoopEndsWhereItEndedInTheRun) {
  const auto gradients = Got(Gradients(GradientOf(
      "t = Constant <value = bool {1}> () e = Constant <value_float = 1.0> () "
      "v, y = Loop(, t, a) <body = l (int64 i, bool go, float u) => (bool ok, "
      "float w, float s) { w = Add(u, b) ok = Less(w, e) s = Identity(w) }>",
      "float[n] y", {F({}, {0}), F({}, {1.0F / 12})})));
  EXPECT_THAT(NumbersOf(gradients[0]), ElementsAre(91));   // 1 + ... + 13
  EXPECT_THAT(NumbersOf(gradients[1]), ElementsAre(819));  // squares of them
}

TEST(RetapedGradients, ScalesPlaceTheGridOfFixedExtents) {
  ExpectTheOracles(GradientOf("Resize <mode = \"linear\", axes = [2]> (a, , b)",
                              "float[1,1,5] y",
                              {F({1, 1, 4}, {1, 3, 2, 5}), F({1}, {1.3F})}),
                   0x1p-23);
}

// At a tie and at a kink, the branch that was taken; of data that is no number,
// or infinite, what arithmetic says.
TEST(RetapedGradients, AreNumbersWhereTheOracleKnowsNone) {
  struct Row {
    GradientRow of;
    std::vector<double> wanted;
  };
  const std::vector<Row> rows = {
      {GradientOf("MaxPool <kernel_shape = [2]> (a)", "float[1,1,2] y",
                  {F({1, 1, 3}, {4, 4, 4})}),
       {1, 2, 0}},
      {GradientOf("Abs(a)", {F({2}, {0, -1})}), {0, -2}},
      {GradientOf("Exp(a)", {F({3}, {kInf, kNan, 100})}), {kInf, kNan, kInf}},
      {GradientOf("Sqrt(a)", {F({2}, {0, 4})}), {kInf, 0.5}},
  };
  for (const Row& row : rows) {
    for (const By by : {By::kKernel, By::kTape}) {
      const auto gradients = Got(Gradients(row.of, {}, by));
      EXPECT_THAT(NumbersOf(gradients[0]),
                  Pointwise(NanSensitiveDoubleEq(), row.wanted))
          << row.of.graph;
    }
  }
}

TEST(Gradients, ReluIsFlatAtItsKink) {
  const auto gradients =
      Got(Gradients(GradientOf("Relu(a)", {F({3}, {0, -0.0, 1})}), {5, 6, 7}));
  EXPECT_THAT(gradients[0].tensor()->elements<float>(), ElementsAre(0, 0, 7));
}

// 0 * infinity would be NaN: what nothing flows into stays without gradient.
TEST(Gradients, ZeroCotangentsCountAsNothing) {
  const auto gradients = Got(Gradients(
      GradientOf("Div(a, b)", {D({2}, {1, 1}), D({2}, {0, 2})}), {0, 1}));
  EXPECT_THAT(gradients[0].tensor()->elements<double>(), ElementsAre(0, 0.5));
  EXPECT_THAT(gradients[1].tensor()->elements<double>(), ElementsAre(0, -0.25));
}

// The graph of a node on a, 1024 ones, with true t and half r; its body
// computes p: a, or what a state has become of it, times what it draws.
std::string IfDraws(const std::string& body) {
  return StrCat(
      "g (float[1024] a) => (float[1024] y) { t = Constant <value = bool {1}> "
      "() "
      "r = Constant <value_float = 0.5> () "
      "y = If(t) <then_branch = n () => (float[1024] p) { ",
      body, " }, else_branch = e () => (float[1024] q) { q = Exp(a) }> }");
}
std::string LoopDraws(const std::string& body) {
  return StrCat(
      "g (float[1024] a) => (float[1024] y) { t = Constant <value = bool {1}> "
      "() "
      "r = Constant <value_float = 0.5> () m = Constant <value_int = 2> () "
      "y = Loop(m, t, a) <body = l (int64 i, bool go, float[1024] u) => "
      "(bool ok, float[1024] p) { ",
      body, " }> }");
}

// The bodies of which draw, and give multiples of each element of a: the
// gradient by a, a being ones, is y.
const std::vector<std::string> kDrawing = {
    IfDraws("p = Dropout(a, r, t)"),
    IfDraws("p = Dropout <seed = 7> (a, r, t)"),
    IfDraws("p, k = Dropout(a, , t)"),
    IfDraws("h = Dropout(a, r, t) d = RandomNormalLike(h) p = Mul(h, d)"),
    IfDraws("d = RandomUniformLike(a) p = Mul(a, d)"),
    IfDraws("d = RandomNormal <shape = [1024]> () p = Mul(a, d)"),
    IfDraws("d = RandomUniform <shape = [1024], dtype = 11> () "
            "c = Cast <to = 1> (d) p = Mul(a, c)"),
    IfDraws("h = Mul(a, r) d = Bernoulli(h) p = Mul(a, d)"),
    IfDraws("l = Constant <value = float[1,2] {0.5, 0.25}> () "
            "s = Multinomial <sample_size = 1024> (l) n = Shape(a) "
            "f = Cast <to = 1> (s) d = Reshape(f, n) p = Mul(a, d)"),
    LoopDraws("ok = Identity(go) p = Dropout(u, r, t)"),
    // A body within a body, and a draw after it.
    LoopDraws("ok = Identity(go) "
              "h = If(t) <then_branch = n () => (float[1024] b) "
              "{ b = Dropout(u, r, t) }, else_branch = e () => (float[1024] c) "
              "{ c = Exp(u) }> p = Dropout(h, r, t)"),
    // As many iterations as a draw says, at most two.
    LoopDraws("d = RandomUniformLike(r) ok = Less(d, r) "
              "p = Dropout(u, r, t)"),
    "g (float[1024] a) => (float[1024] y) { t = Constant <value = bool {1}> () "
    "r = Constant <value_float = 0.5> () "
    "b = Constant <value_floats = [2.0, -1.0]> () "
    "y = Scan <num_scan_inputs = 1, body = l (float[1024] u, float x) => "
    "(float[1024] p) { h = Mul(u, x) p = Dropout(h, r, t) }> (a, b) }",
    // Two nodes, of which each draws for itself.
    "g (float[1024] a) => (float[1024] y) { t = Constant <value = bool {1}> () "
    "r = Constant <value_float = 0.5> () "
    "h = If(t) <then_branch = n () => (float[1024] p) { p = Dropout(a, r, t) "
    "}, "
    "else_branch = e () => (float[1024] q) { q = Exp(a) }> "
    "y = If(t) <then_branch = n () => (float[1024] p) { p = Dropout(h, r, t) "
    "}, "
    "else_branch = e () => (float[1024] q) { q = Exp(h) }> }",
};

// Kills: a body that draws anew when it runs again, or from the seeds of
// another run or node; one that draws the same in every run.
TEST(RetapedGradients, ABodyDrawsAgainWhatItDrew) {
  const assay::Value ones = F({1024}, std::vector<double>(1024, 1)).Make();
  for (const std::string& graph : kDrawing) {
    const auto network = NetworkOf(graph, {.gradient_targets = {"a"}});
    const auto binding = *network->Bind({&ones, 1}, {});
    std::vector<std::vector<double>> drawn;
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(network->Forward(*binding).ok()) << graph;
      drawn.push_back(NumbersOf(binding->outputs()[0]));
      const auto gradients = network->differentiable()->Backward(
          *binding, {&ones, 1}, std::vector<std::string>{"a"});
      ASSERT_TRUE(gradients.ok()) << graph << gradients.status().ToString();
      EXPECT_EQ(NumbersOf((*gradients)[0]), drawn.back()) << graph;
    }
    const bool has_seed = graph.find("seed") != std::string::npos;
    EXPECT_EQ(drawn[0] == drawn[1], has_seed) << graph;
  }
}

TEST(RetapedGradients, AreDeclinedWhereTheNodeHasNoTape) {
  struct Row {
    const char* graph;
    const char* why;
  };
  const std::vector<Row> rows = {
      {"g (float[2] a) => (float[2] y) { y = Bernoulli(a) }",
       "random draws have no exact value"},
      {"g (float[2] a) => (float[2] y) "
       "{ s = SequenceConstruct(a) i = Constant <value_int = 0> () "
       "y = SequenceAt(s, i) }",
       "gradients pass tensors of floats of 16 to 64 bits only"},
  };
  for (const Row& row : rows) {
    const Status status =
        RowBackend()
            .Load(ModelOf(row.graph), {.gradient_targets = {"a"}})
            .status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << row.graph;
    EXPECT_EQ(status.reason(), Reason::kGradient) << row.graph;
    EXPECT_THAT(status.message(), HasSubstr(row.why));
  }
}

}  // namespace
}  // namespace assay::reference
