// SPDX-License-Identifier: Apache-2.0
//
// Answers of the oracle where it is hard to be right: each against the exact
// number, in every precision, which must lie within the stated bound.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/reference/exact/referee.h"
#include "backends/reference/truth_rows.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

using enum Known;

Quad Ratio(double a, double b) { return Quad(a) / Quad(b); }

TEST(ExactValuesTest, WeightsAreOnTheTape) {
  // Position 1 of 7 from 4: 1.5 * 4 / 7 - 1 / 2 = 5 / 14, between 0 and 14.
  const std::string linear =
      "g (double[1,1,4] x, int64[3] s) => (double[1,1,7] y) "
      "{ y = Resize <mode = \"linear\"> (x, , , s) }";
  const std::vector<Feed> line = {D({1, 1, 4}, {0, 14, 1, 1}),
                                  I({3}, {1, 1, 7})};
  // align_corners: 1 * 3 / 6 = 1 / 2 of 7 from 4; of 11 from 4, 3 / 10.
  const std::string corners =
      "g (double[1,1,4] x, int64[3] s) => (double[1,1,11] y) { y = Resize "
      "<mode = \"linear\", coordinate_transformation_mode = \"align_corners\">"
      " (x, , , s) }";
  ExpectTruths({
      {"weights in double", linear, line, ValueIs(1, 5)},
      {"weights in double, gradient", linear, line,
       GradientIs(0, 0, Quad(1) + Ratio(10, 14))},
      {"weights in double, corners",
       corners,
       {D({1, 1, 4}, {0, 10, 1, 1}), I({3}, {1, 1, 11})},
       ValueIs(1, 3)},
  });
}

TEST(ExactValuesTest, DeterminantsOfSingularMatricesAreRight) {
  const std::string three = "g (float[3,3] x) => (float y) { y = Det(x) }";
  const std::string two = "g (double[2,2] x) => (double y) { y = Det(x) }";
  const std::vector<Feed> unimodular = {
      F({3, 3}, {19823, 26218, -162, 3425023, 4578541, -28292, 6797157,
                 -4031885, 25281})};
  const double third = 1.0 / 3;
  const std::vector<Feed> singular = {D({2, 2}, {1, 2, 2, 4})};
  ExpectTruths({
      {"a pivot of 0", three, unimodular, ValueIs(0, 1)},
      {"a product that rounds",
       two,
       {D({2, 2}, {1, third, 3, 1})},
       ValueIs(0, 0x1p-54)},
      {"a singular matrix has a gradient", two, singular, GradientIs(0, 0, 4)},
      {"off the diagonal", two, singular, GradientIs(0, 1, -2)},
      {"of rank 1", two, {D({2, 2}, {0, 0, 0, 3})}, GradientIs(0, 0, 3)},
  });
}

TEST(ExactValuesTest, WhatIsBeyondDoubleOnTheWayIsUnknown) {
  ExpectTruths({
      {"Log of Exp",
       "g (float[1] x) => (float[1] y) { e = Exp(x) y = Log(e) }",
       {F({1}, {-800})},
       ValueIs(0, -800, kPerhaps)},
      {"its gradient",
       "g (float[1] x) => (float[1] y) { e = Exp(x) y = Log(e) }",
       {F({1}, {-800})},
       GradientIs(0, 0, 1, kPerhaps)},
      {"a product that comes back",
       "g (double[4] x) => (double y) { y = ReduceProd <keepdims = 0> (x) }",
       {D({4}, {1e200, 1e200, 1e-200, 1e-200})},
       ValueIs(0, Quad(1e200) * Quad(1e200) * Quad(1e-200) * Quad(1e-200),
               kPerhaps)},
      {"a great number has a bound",
       "g (double[1] x) => (double[1] y) { y = Mul(x, x) }",
       {D({1}, {0x1.5555555555555p511})},
       ValueIs(0, Quad(0x1.5555555555555p511) * Quad(0x1.5555555555555p511))},
      {"Acosh' of a great number",
       "g (double[1] x) => (double[1] y) { y = Acosh(x) }",
       {D({1}, {1e300})},
       GradientIs(0, 0, Quad(1) / Quad(1e300))},
      {"Asinh'",
       "g (double[1] x) => (double[1] y) { y = Asinh(x) }",
       {D({1}, {-1e300})},
       GradientIs(0, 0, Quad(1) / Quad(1e300))},
      {"Atan'",
       "g (double[1] x) => (double[1] y) { y = Atan(x) }",
       {D({1}, {0x1p100})},
       GradientIs(0, 0, 0x1p-200)},
      {"a saturated Tanh'",
       "g (double[1] x) => (double[1] y) { y = Tanh(x) }",
       {D({1}, {1000})},
       GradientIs(0, 0, 0)},
      {"an infinity that is given",
       "g (double[2] x) => (double[2] y) { y = Exp(x) }",
       {D({2}, {-std::numeric_limits<double>::infinity(), 0})},
       ValueIs(0, 0)},
  });
}

TEST(ExactValuesTest, ASmoothFunctionHasItsDerivativeWhereItsFormulasMeet) {
  const auto of = [](const std::string& node) {
    return "g (double[1] x) => (double[1] y) { y = " + node + " (x) }";
  };
  const std::vector<Feed> zero = {D({1}, {0})};
  ExpectTruths({
      {"Celu", of("Celu <alpha = 0.5>"), zero, GradientIs(0, 0, 1)},
      {"Elu", of("Elu"), zero, GradientIs(0, 0, 1)},
      {"Softplus", of("Softplus"), zero, GradientIs(0, 0, 0.5)},
      {"Softsign", of("Softsign"), zero, TangentIs(0, 1)},
      {"Mish", of("Mish"), zero, GradientIs(0, 0, Quad(3) / Quad(5))},
      {"Sigmoid", of("Sigmoid"), zero, TangentIs(0, 0.25)},
  });
}

TEST(ExactValuesTest, ATangentThatVanishesInDoubleKeepsItsBound) {
  // (a - 1/3) 1e20 with a the double next to a third, which is 2^-54/3 below.
  const double third = 1.0 / 3;
  ExpectTruths(
      {{"a tangent of 0",
        "g (double[1] x, double[1] a, double[1] three, double[1] much) "
        "=> (double[1] y) { p = Mul(x, a) q = Div(x, three) "
        "d = Sub(p, q) y = Mul(d, much) }",
        {D({1}, {0}), D({1}, {third}), D({1}, {3}), D({1}, {1e20})},
        TangentIs(0, Ratio(-0x1p-54, 3) * Quad(1e20))}});
}

TEST(ExactValuesTest, ErrorsCountBeyondFirstOrder) {
  // a is 2 units of 1 in double, for 1.51 of them: an error of 0.49, of which a
  // tangent at 2 says too little.
  const double x = 1.51 * 0x1p-52;
  const auto of_a = [](const std::string& node) {
    return "g (double[1] x, double[1] one, double[1] much) => (double[1] y) "
           "{ s = Add(x, one) a = Sub(s, one) " +
           node + " }";
  };
  const std::vector<Feed> feeds = {D({1}, {x}), D({1}, {1}), D({1}, {0x1p53})};
  const double below = 0.9 * 0x1p-53;  // a is 0
  ExpectTruths({
      {"beside a pole", of_a("y = Div(one, a)"), feeds,
       ValueIs(0, Quad(1) / Quad(x))},
      {"Log", of_a("y = Log(a)"), feeds, ValueIs(0, log(Quad(x)))},
      {"Sqrt", of_a("y = Sqrt(a)"), feeds, ValueIs(0, sqrt(Quad(x)))},
      {"Exp",
       of_a("b = Mul(a, much) y = Exp(b)"),
       {D({1}, {below}), D({1}, {1}), D({1}, {0x1p53})},
       ValueIs(0, exp(Quad(below) * Quad(0x1p53)))},
  });
}

// Nothing is rounded to a narrow float, but numbers beyond its largest are
// that.
TEST(ExactValuesTest, SaturationIsPartOfTheFormula) {
  const std::string eight =
      "g (float[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) }";
  const std::string back =
      "g (float[2] x) => (float[2] y) "
      "{ n = Cast <to = 23> (x) y = Cast <to = 1> (n) }";
  const std::string quantized =
      "g (float[2] x, float s) => (float8e5m2[2] y) "
      "{ y = QuantizeLinear <output_dtype = 19> (x, s) }";
  // (1.5 * 1.25 - 2 * 0.75) * 3 * 3 / s = 3.375 / s.
  const std::string product =
      "g (float[1,2] x, float[2,1] w, float t, float s) => "
      "(float8e4m3fn[1,1] y) { d = Sub(t, t) z = Cast <to = 17> (d) "
      "a = Cast <to = 17> (x) b = Cast <to = 17> (w) "
      "y = QLinearMatMul(a, t, z, b, t, z, s, z) }";
  const Feed x = F({2}, {1.3125, -1000});
  const std::vector<Feed> scaled = {F({2}, {3, -1e6}), F({}, {7})};
  const std::vector<Feed> factors = {
      F({1, 2}, {1.5, 2}), F({2, 1}, {1.25, -0.75}), F({}, {3}), F({}, {7})};
  std::vector<Feed> beyond = factors;
  beyond[3] = F({}, {0x1p-10});
  ExpectTruths({
      {"within", eight, {x}, ValueIs(0, 1.3125)},
      {"beyond", eight, {x}, ValueIs(1, -448)},
      {"a whole number",
       "g (int64[1] x) => (float8e4m3fn[1] y) { y = Cast <to = 17> (x) }",
       {I({1}, {1000})},
       ValueIs(0, 448)},
      {"there and back", back, {x}, ValueIs(1, -6)},
      {"no slope", back, {x}, GradientIs(0, 1, 0)},
      {"a slope", back, {x}, GradientIs(0, 0, 1)},
      {"quantized", quantized, scaled, ValueIs(0, Ratio(3, 7))},
      {"to the largest", quantized, scaled, ValueIs(1, -57344)},
      {"a product", product, factors, ValueIs(0, Ratio(3.375, 7))},
      {"its gradient", product, factors, GradientIs(3, 0, Ratio(-3.375, 49))},
      {"a product beyond", product, beyond, ValueIs(0, 448)},
  });
}

// Kills: a formula of two kinks that cancel in the value and not in the slope.
TEST(ExactValuesTest, SoftplusHasNoKink) {
  const std::string recurrent =
      "g (float[1,1,1] x, float[1,1,1] w, float[1,1,1] r) => (float[1,1,1] h) "
      "{ y, h = RNN <hidden_size = 1, activations = [\"Softplus\"]> (x, w, r) "
      "}";
  const std::string plain =
      "g (float[1] x) => (float[1] y) { y = Softplus(x) }";
  const Feed zero = F({1, 1, 1}, {0});
  ExpectTruths({
      {"of a cell",
       recurrent,
       {F({1, 1, 1}, {3}), zero, zero},
       GradientIs(1, 0, 1.5)},
      {"alone", plain, {F({1}, {0})}, GradientIs(0, 0, 0.5)},
  });
}

TEST(ExactValuesTest, NothingCancelsInAFormulaThatNeedNot) {
  struct Row {
    std::string graph;
    Feed x;
    size_t at;
    double units;  // of float32's or float64's
  };
  const std::vector<Row> rows = {
      {"g (double[1] x) => (double[1] y) { y = Gelu(x) }", D({1}, {-12}), 0,
       450},
      {"g (double[1] x) => (double[1] y) { y = Gelu <approximate = \"tanh\"> "
       "(x) }",
       D({1}, {-12}), 0, 2000},
      {"g (double[1,2] x) => (double[1,2] y) { y = LogSoftmax(x) }",
       D({1, 2}, {40, 0}), 0, 100},
  };
  for (const Row& row : rows) {
    const auto network = NetworkOf(row.graph, {.exact = true});
    const std::vector<v1::Value> inputs = {row.x.Make()};
    const auto exact =
        Got(EvaluateAt(*network->exact(), inputs, Precision::kDouble));
    const double value = exact[0].value.tensor()->elements<double>()[row.at];
    const double bound = exact[0].bound.elements<double>()[row.at];
    EXPECT_LE(bound, row.units * 0x1p-53 * std::abs(value)) << row.graph;
  }
}

// s x + a x^3 + b x^5, whose differences at steps of h and h / 2 are one number
// where a = -5/4 b h^2. Kills: an entry of the tableau that is believed because
// its two forerunners happen to be alike.
TEST(Referee, IsNotFooledByErrorsThatCancel) {
  const RefereeOptions options;
  const double h = options.step;
  for (const double b : {1.0, -1e4, 1e8}) {
    const double a = -1.25 * b * h * h;
    const auto slope = Got(SlopeAtZero(
        [&](double x) -> Result<Sample> {
          const double value = 3 * x + a * x * x * x + b * std::pow(x, 5);
          return Sample{value, 0x1p-52 * std::abs(value)};
        },
        options));
    EXPECT_LE(std::abs(slope.value - 3), slope.bound) << b;
  }
}

// Kills: a bound that doubts entries which agree.
TEST(Referee, ResolvesASmoothSlope) {
  const auto slope = Got(SlopeAtZero(
      [](double x) -> Result<Sample> {
        return Sample{std::exp(x), 0x1p-52};
      },
      {}));
  EXPECT_LE(std::abs(slope.value - 1), slope.bound);
  EXPECT_LT(slope.bound, 1e-12);
}

}  // namespace
}  // namespace assay::reference
