// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/reference/gradient_rows.h"
#include "backends/reference/kernel_rows.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

struct Loaded1 {
  explicit Loaded1(const std::string& graph)
      : network(NetworkOf(graph, {.exact = true})) {}
  Result<std::vector<ExactValue>> Evaluate(const std::vector<v1::Value>& inputs,
                                           Precision precision) {
    return EvaluateAt(*network->exact(), inputs, precision);
  }
  /// A run whose targets are the inputs of floating-point numbers.
  std::unique_ptr<ExactRun> RunAt(const std::vector<v1::Value>& inputs) {
    std::vector<std::string> targets;
    for (const ValueInfo& input : network->inputs()) {
      if (IsFloatingPoint(input.type.dtype)) targets.push_back(input.name);
    }
    return Got(network->exact()->At(inputs, targets));
  }
  std::unique_ptr<Network> network;
};

double At(const v1::Value& value, size_t i) {
  return value.tensor()->elements<double>()[i];
}
double At(const Tensor& tensor, size_t i) {
  return tensor.elements<double>()[i];
}

TEST(ExactNetworkTest, NothingIsRoundedBetweenTheNodes) {
  // In float32 the sum is 2^24 and the difference 0.
  Loaded1 sum(
      "g (float[1] x, float[1] y) => (float[1] d) "
      "{ s = Add(x, y) d = Sub(s, x) }");
  const auto inputs = ValuesOf({F({1}, {16777216}), F({1}, {0.5})});
  const auto exact = Got(sum.Evaluate(inputs, Precision::kDouble));
  EXPECT_EQ(At(exact[0].value, 0), 0.5);
  EXPECT_LT(At(exact[0].bound, 0), 1e-8);
}

TEST(ExactNetworkTest, EachPrecisionIsWithinItsBound) {
  Loaded1 erf("g (float[1] x) => (float[1] y) { e = Exp(x) y = Erf(e) }");
  const std::vector<v1::Value> inputs = {F({1}, {-0.75}).Make()};
  std::vector<ExactValue> answers;
  for (const Precision precision :
       {Precision::kDouble, Precision::kQuad, Precision::kArbitrary}) {
    auto exact = Got(erf.Evaluate(inputs, precision));
    answers.push_back(std::move(exact[0]));
  }
  // Value and tail hold 106 bits.
  const double truth = At(answers[2].value, 0);
  const double rest = At(answers[2].tail, 0);
  for (const ExactValue& answer : answers) {
    const double error =
        std::abs((At(answer.value, 0) - truth) + (At(answer.tail, 0) - rest));
    EXPECT_LE(error, At(answer.bound, 0) + At(answers[2].bound, 0));
  }
  EXPECT_LT(At(answers[0].bound, 0), 1e-14);
  EXPECT_LT(At(answers[1].bound, 0), 1e-32);
  EXPECT_LT(At(answers[2].bound, 0), 1e-32);
  EXPECT_NE(At(answers[1].tail, 0), 0);
}

std::vector<GradientRow> GradientRows() {
  const Feed six = F({2, 3}, {1, -2, 3, 0.5, 0.25, -1});
  const Feed eight = F({2, 4}, {1, -2, 3, 0.5, 0.25, -1, 2, 7});
  const Feed two = F({1, 2, 1}, {1, -2});
  return {
      GradientOf("Gemm <alpha = 0.5> (a, b, c)", "float[2,2] y",
                 {six, F({3, 2}, {2, 1, -1, 3, 4, 0.5}), F({2}, {1, -1})}),
      GradientOf("Conv(a, b)", "float[1,3,2,2] y",
                 {F({1, 2, 4, 4}, std::vector<double>(32, 0.75)),
                  F({3, 2, 3, 3}, std::vector<double>(54, -0.125))}),
      GradientOf("Softmax(a)", "float[2,3] y", {six}),
      GradientOf("LayerNormalization(a, b, c)", "float[2,4] y",
                 {eight, F({4}, {1, 2, 3, 4}), F({4}, {0, 1, 0, -1})}),
      GradientOf("MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)",
                 "float[1,1,2,2] y",
                 {F({1, 1, 4, 4},
                    {1, 2, 3, 4, 8, 7, 6, 5, 0, -1, -2, -3, 4, 6, 8, 9})}),
      GradientOf("Attention <is_causal = 1, softcap = 2.0> (a, b, c)",
                 "float[1,2,2,3] y",
                 {F({1, 2, 2, 2}, {1, -2, 3, 0.5, 0.25, -1, 2, 1}),
                  F({1, 1, 2, 2}, {0.5, 1, -1, 2}),
                  F({1, 1, 2, 3}, {1, -2, 3, 0.5, 0.25, -1})}),
      GradientOf("y, n = LinearAttention <q_num_heads = 1, kv_num_heads = 1> "
                 "(a, b, c, , d, e)",
                 "float[1,2,1] y",
                 {F({1, 2, 2}, {1, -2, 3, 0.5}), F({1, 2, 2}, {0.5, 1, -1, 2}),
                  two, F({1, 2, 1}, {-1, -0.5}), F({1, 2, 1}, {0.5, 0.25})}),
      GradientOf("t = Constant <value_ints = [2, 0]> () "
                 "y = SoftmaxCrossEntropyLoss(a, t)",
                 "float y", {six}),
      GradientOf("t = Transpose(a) e = Exp(t) y = Mul(e, t)", "float[3,2] y",
                 {six}),
  };
}

v1::Value ExactRamp(const Shape& shape, double first, double step) {
  auto tensor = Tensor::Allocate(DType::kFloat64, shape);
  double next = first;
  for (double& x : tensor->mutable_elements<double>()) {
    x = next;
    next = next > 2 ? first : next + step;
  }
  return assay::Value(std::move(*tensor));
}

// The reverse pass, the tangent pass and the referee, which shares no partial
// derivative with them, give one number.
TEST(ExactNetworkTest, VjpJvpAndDifferencesAgree) {
  for (const GradientRow& row : GradientRows()) {
    Loaded1 loaded(row.graph);
    std::vector<v1::Value> inputs, tangents, cotangents;
    for (const Feed& feed : row.feeds) {
      inputs.emplace_back(feed.Make());
      tangents.push_back(ExactRamp(feed.shape, -0.5, 0.375));
    }
    for (const ValueInfo& output : loaded.network->outputs()) {
      cotangents.push_back(ExactRamp(*output.type.StaticShape(), 0.75, -0.25));
    }
    const auto run = loaded.RunAt(inputs);
    const auto vjp = run->Vjp(cotangents, Precision::kQuad);
    const auto jvp = run->Jvp(tangents, Precision::kQuad);
    const auto slope = run->Difference(tangents, cotangents);
    ASSERT_TRUE(vjp.ok() && jvp.ok() && slope.ok()) << row.graph;
    const auto dot = [](const ExactValue& x, const v1::Value& y) {
      double sum = 0;
      for (size_t i = 0; i < y.tensor()->elements<double>().size(); ++i) {
        sum += At(x.value, i) * At(y, i);
      }
      return sum;
    };
    double from_vjp = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      from_vjp += dot((*vjp)[i], tangents[i]);
    }
    const double from_jvp = dot((*jvp)[0], cotangents[0]);
    EXPECT_NEAR(from_vjp, from_jvp, 1e-12) << row.graph;
    EXPECT_LE(std::abs(slope->value - from_jvp), slope->bound + 1e-12)
        << row.graph;
    EXPECT_LE(slope->bound, 1e-6) << row.graph;
  }
}

TEST(ExactNetworkTest, AJumpThatIsTooNearLeavesTheRefereeWithoutABound) {
  Loaded1 loaded("g (float[1] x) => (float[1] y) { y = Floor(x) }");
  const std::vector<v1::Value> inputs = {F({1}, {2}).Make()};
  const auto slope = Got(loaded.RunAt(inputs)->Difference(Ones(1), Ones(1)));
  EXPECT_TRUE(std::isinf(slope.bound));
}

TEST(ExactNetworkTest, AComparisonInDoubtHasNoBound) {
  // A third of three is 1, or next to it.
  Loaded1 loaded(
      "g (float[1] x, float[1] y) => (float[1] z) "
      "{ q = Div(x, y) r = Mul(q, y) c = Less(r, x) z = Where(c, x, y) }");
  const auto inputs = ValuesOf({F({1}, {1}), F({1}, {3})});
  const auto exact = Got(loaded.Evaluate(inputs, Precision::kDouble));
  EXPECT_TRUE(std::isinf(At(exact[0].bound, 0)));
}

TEST(ExactNetworkTest, ConditionUnitsSeeCancellation) {
  // x + y of 1 and -1 + 2^-20: both inputs may have been rounded.
  Loaded1 sum("g (float[1] x, float[1] y) => (float[1] s) { s = Add(x, y) }");
  const auto inputs = ValuesOf({F({1}, {1}), F({1}, {-1 + 0x1p-20})});
  const auto units =
      Got(sum.RunAt(inputs)->EvaluateUnits(UnitKind::kCondition));
  EXPECT_EQ(At(units[0], 0), 2 - 0x1p-20);
}

TEST(ExactNetworkTest, WhatHasNoExactValueIsDeclined) {
  struct Row {
    std::string graph;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"g (float[2] x) => (float[2] y) { y = Bernoulli(x) }", "random"},
      {"g (int32[2] x) => (float[2] y) { y = BitCast<to=1>(x) }", "bits"},
      {"g (float[2] x) => (string[2] y) { y = Cast<to=8>(x) }", "numbers"},
  };
  for (const Row& row : rows) {
    const auto loaded = RowBackend().Load(ModelOf(row.graph), {.exact = true});
    EXPECT_THAT(loaded.status(),
                IsStatus(StatusCode::kUnsupported, row.message))
        << row.graph;
  }
}

TEST(ExactNetworkTest, WrongDirectionsAreNamed) {
  Loaded1 relu("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  const std::vector<v1::Value> inputs = {F({2}, {1, 2}).Make()};
  const std::vector<v1::Value> wrong = {F({2}, {1, 2}).Make()};
  const auto vjp = relu.RunAt(inputs)->Vjp(wrong, Precision::kDouble);
  EXPECT_EQ(vjp.status().message(),
            "the direction of 'y' is float32[2], wanted float64[2]");
  const auto jvp = relu.RunAt(inputs)->Jvp({}, Precision::kDouble);
  EXPECT_EQ(jvp.status().message(), "found 0 tangents, wanted 1");
}

// Kills: one variable for two inputs that are fed the same tensor.
TEST(ExactNetworkTest, InputsThatShareMemoryAreTwoVariables) {
  Loaded1 loaded(
      "g (float[1] x, float[1] y) => (float[1] z) { z = Mul(x, y) }");
  const v1::Value shared = F({1}, {3}).Make();
  const std::vector<v1::Value> inputs = {shared, shared};
  const auto run = loaded.RunAt(inputs);
  const auto vjp = Got(run->Vjp(Ones(1), Precision::kDouble));
  EXPECT_EQ(At(vjp[0].value, 0), 3);
  EXPECT_EQ(At(vjp[1].value, 0), 3);
  const auto along = ValuesOf({D({1}, {1}), D({1}, {0})});
  const auto jvp = Got(run->Jvp(along, Precision::kDouble));
  EXPECT_EQ(At(jvp[0].value, 0), 3);
  const auto slope = Got(run->Difference(along, Ones(1)));
  EXPECT_NEAR(slope.value, 3, 1e-9);
}

TEST(ExactNetworkTest, ConditionUnitsOfAProductAreThoseOfItsTerms) {
  // Each term: two numbers given and one product.
  Loaded1 product(
      "g (float[1,2] x, float[2,1] y) => (float[1,1] z) { z = MatMul(x, y) }");
  const auto inputs = ValuesOf({F({1, 2}, {1, -2}), F({2, 1}, {4, 8})});
  const auto units =
      Got(product.RunAt(inputs)->EvaluateUnits(UnitKind::kCondition));
  EXPECT_EQ(At(units[0], 0), 3 * (4 + 16));
}

// Kills: a step over a pole, beyond the scale of a function, or into numbers
// that do not move.
TEST(ExactNetworkTest, TheRefereeIsWithinItsBoundWhereItIsHard) {
  const struct {
    std::string body;
    double at;
    double slope;
  } rows[] = {
      {"y = Reciprocal(x)", 1e-4, -1e8},
      {"y = Reciprocal(x)", 1e-9, -1e18},
      {"y = Tan(x)", 1.5707, 1 / std::pow(std::cos(1.5707), 2)},
      {"y = Sin(x)", 1e22, std::cos(1e22)},
      {"s = Mul(x, x) y = ReduceL2(s)", 1e-30, 2e-30},
      {"a = Mul(x, x) s = Sqrt(a) y = Mul(s, s)", 1e-5, 2e-5},
      {"i = Cast <to = 7> (x) y = Cast <to = 11> (i)", 1.0001, 0},
  };
  for (const auto& row : rows) {
    Loaded1 loaded("g (double[1] x) => (double[1] y) { " + row.body + " }");
    const std::vector<v1::Value> inputs = {D({1}, {row.at}).Make()};
    const auto slope = loaded.RunAt(inputs)->Difference(Ones(1), Ones(1));
    ASSERT_TRUE(slope.ok()) << row.body << slope.status().message();
    EXPECT_LE(std::abs(slope->value - row.slope),
              slope->bound + 1e-12 * std::abs(row.slope))
        << row.body << " at " << row.at << ": " << slope->value;
  }
}

TEST(ExactNetworkTest, AnInputThatIsNotReadHasZeroGradient) {
  Loaded1 loaded(
      "g (float[2] x, float[2] unused, int64[1] n) => (float[2] y) "
      "{ y = Relu(x) }");
  const auto inputs = ValuesOf({F({2}, {1, -2}), F({2}, {3, 4}), I({1}, {7})});
  const auto vjp = Got(loaded.RunAt(inputs)->Vjp(Ones(2), Precision::kDouble));
  EXPECT_EQ(At(vjp[0].value, 0), 1);
  EXPECT_EQ(At(vjp[0].value, 1), 0);
  EXPECT_EQ(At(vjp[1].value, 0), 0);
}

}  // namespace
}  // namespace assay::reference
