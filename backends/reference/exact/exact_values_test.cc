// SPDX-License-Identifier: Apache-2.0
//
// Answers of the oracle where it is hard to be right: each against the exact
// number, in every precision, which must lie within the stated bound. And
// numbers that decide: each of those rows decides otherwise in double than in
// exact arithmetic, so that the oracle must say the exact number, or that it
// does not know.

#include <gtest/gtest.h>

#include <cmath>

#include "backends/reference/exact/referee.h"
#include "backends/reference/gradient_rows.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

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
  const std::string log_of_exp = "e = Exp(a) y = Log(e)";
  ExpectTruths({
      TruthOf("Log of Exp", log_of_exp, {F({1}, {-800})},
              ValueIs(0, -800, kPerhaps)),
      TruthOf("its gradient", log_of_exp, {F({1}, {-800})},
              GradientIs(0, 0, 1, kPerhaps)),
      TruthOf(
          "a product that comes back", "ReduceProd <keepdims = 0> (a)",
          {D({4}, {1e200, 1e200, 1e-200, 1e-200})},
          ValueIs(0, Quad(1e200) * Quad(1e200) * Quad(1e-200) * Quad(1e-200),
                  kPerhaps),
          "double y"),
      TruthOf("a great number has a bound", "Mul(a, a)",
              {D({1}, {0x1.5555555555555p511})},
              ValueIs(0, Quad(0x1.5555555555555p511) *
                             Quad(0x1.5555555555555p511))),
      TruthOf("Acosh' of a great number", "Acosh(a)", {D({1}, {1e300})},
              GradientIs(0, 0, Quad(1) / Quad(1e300))),
      TruthOf("Asinh'", "Asinh(a)", {D({1}, {-1e300})},
              GradientIs(0, 0, Quad(1) / Quad(1e300))),
      TruthOf("Atan'", "Atan(a)", {D({1}, {0x1p100})},
              GradientIs(0, 0, 0x1p-200)),
      TruthOf("a saturated Tanh'", "Tanh(a)", {D({1}, {1000})},
              GradientIs(0, 0, 0)),
      TruthOf("an infinity that is given", "Exp(a)", {D({2}, {-kInf, 0})},
              ValueIs(0, 0)),
  });
}

TEST(ExactValuesTest, ASmoothFunctionHasItsDerivativeWhereItsFormulasMeet) {
  const std::vector<Feed> zero = {D({1}, {0})};
  ExpectTruths({
      TruthOf("Celu", "Celu <alpha = 0.5> (a)", zero, GradientIs(0, 0, 1)),
      TruthOf("Elu", "Elu(a)", zero, GradientIs(0, 0, 1)),
      TruthOf("Softplus", "Softplus(a)", zero, GradientIs(0, 0, 0.5)),
      TruthOf("Softsign", "Softsign(a)", zero, TangentIs(0, 1)),
      TruthOf("Mish", "Mish(a)", zero, GradientIs(0, 0, Quad(3) / Quad(5))),
      TruthOf("Sigmoid", "Sigmoid(a)", zero, TangentIs(0, 0.25)),
  });
}

TEST(ExactValuesTest, ATangentThatVanishesInDoubleKeepsItsBound) {
  // (a - 1/3) 1e20 with a the double next to a third, which is 2^-54/3 below.
  const double third = 1.0 / 3;
  ExpectTruths(
      {TruthOf("a tangent of 0",
               "p = Mul(a, b) q = Div(a, c) s = Sub(p, q) y = Mul(s, d)",
               {D({1}, {0}), D({1}, {third}), D({1}, {3}), D({1}, {1e20})},
               TangentIs(0, Ratio(-0x1p-54, 3) * Quad(1e20)))});
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
  const Feed zero = F({1, 1, 1}, {0});
  ExpectTruths({
      TruthOf("of a cell",
              "y, h = RNN <hidden_size = 1, activations = [\"Softplus\"]> "
              "(a, b, c)",
              {F({1, 1, 1}, {3}), zero, zero}, GradientIs(1, 0, 1.5),
              "float[1,1,1] h"),
      TruthOf("alone", "Softplus(a)", {F({1}, {0})}, GradientIs(0, 0, 0.5)),
  });
}

TEST(ExactValuesTest, NothingCancelsInAFormulaThatNeedNot) {
  struct Row {
    GradientRow of;
    double units;  // of float32's or float64's, of the first element
  };
  const std::vector<Row> rows = {
      {GradientOf("Gelu(a)", {D({1}, {-12})}), 450},
      {GradientOf("Gelu <approximate = \"tanh\"> (a)", {D({1}, {-12})}), 2000},
      {GradientOf("LogSoftmax(a)", {D({1, 2}, {40, 0})}), 100},
  };
  for (const auto& [row, units] : rows) {
    const auto network = NetworkOf(row.graph, {.exact = true});
    const auto exact = Got(
        EvaluateAt(*network->exact(), ValuesOf(row.feeds), Precision::kDouble));
    const double value = exact[0].value.tensor()->elements<double>()[0];
    const double bound = exact[0].bound.elements<double>()[0];
    EXPECT_LE(bound, units * 0x1p-53 * std::abs(value)) << row.graph;
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

TEST(ExactDecisionsTest, CellsOfAGridAreDecisions) {
  // x = ((-1e-17 + 1) 5 - 1) / 2 = 2 - 2.5e-17, left of the middle of 3.
  const Quad left = Quad(2.5) * Quad(-1e-17);
  const Feed at = D({1, 1, 1, 2}, {-1e-17, 0});
  const std::vector<Feed> feeds = {D({1, 1, 1, 5}, {1, 1, 4, 9, 9}), at};
  const std::string linear = "GridSample <mode = \"linear\"> (a, b)";
  const std::string y = "double[1,1,1,1] y";
  ExpectTruths({
      TruthOf("the cell on the right", linear, feeds,
              ValueIs(0, Quad(4) + Quad(3) * left, kPerhaps), y),
      TruthOf("its slope", linear, feeds, GradientIs(1, 0, 3 * 2.5, kPerhaps),
              y),
      // x = ((-1e-17 + 1) 4 - 1) / 2 = 1.5 - 2e-17, nearer to 1 than to 2.
      TruthOf("the nearest", "GridSample <mode = \"nearest\"> (a, b)",
              {D({1, 1, 1, 4}, {1, 1, 4, 9}), at}, ValueIs(0, 1, kPerhaps), y),
  });
}

TEST(ExactDecisionsTest, NumbersThatDecideAnExtentHaveDerivativesBetweenJumps) {
  // 2.75 / 0.75 is 3.7: four steps, start + i delta.
  const std::string four = "double[4] y";
  const std::vector<Feed> steps = {D({}, {0.5}), D({}, {3.25}), D({}, {0.75})};
  // 4 * 1.375 is 5.5: five numbers, taken at (i + 0.5) / 1.375 - 0.5, which are
  // between numbers 0, 2, -1, 3 and 3 apart.
  const std::vector<Feed> scaled = {D({1, 1, 4}, {1, 3, 2, 5}),
                                    F({1}, {1.375})};
  const Quad slopes(-(1.5 * 2 - 2.5 * 1 + 3.5 * 3 + 4.5 * 3));
  ExpectTruths({
      TruthOf("start", "Range(a, b, c)", steps, GradientIs(0, 0, 4), four),
      TruthOf("limit", "Range(a, b, c)", steps, GradientIs(1, 0, 0), four),
      TruthOf("delta", "Range(a, b, c)", steps, GradientIs(2, 0, 6), four),
      TruthOf("scale", "Resize <mode = \"linear\", axes = [2]> (a, , b)",
              scaled, GradientIs(1, 0, slopes / Quad(1.890625)),
              "double[1,1,5] y"),
  });
}

// 1 - 1e-17 is 1 in double, and is cut to 0.
TEST(ExactDecisionsTest, NumbersReadAsIntegersAreDecisions) {
  ExpectTruths({TruthOf(
      "a hot element",
      "i = Add(a, b) d = Constant <value_int = 2> () y = OneHot(i, d, c)",
      {D({1}, {-1e-17}), D({1}, {1}), D({2}, {0, 1})}, ValueIs(0, 1, kPerhaps),
      "double[1,2] y")});
}

// x + 1 - 1 is 0 in double, for a tiny x of either sign.
std::string Tiny(const std::string& nodes) {
  return "g (double[2] x, double[2] one) => (double[2] y) "
         "{ a = Add(x, one) t = Sub(a, one) " +
         nodes + " }";
}

// The nodes on such an x of either sign.
TruthRow TinyRow(const char* fault, const std::string& nodes, Truth truth) {
  return {fault, Tiny(nodes), {D({2}, {1e-17, -1e-17}), D({2}, {1, 1})}, truth};
}

TEST(ExactDecisionsTest, DecisionsInDoubtAreTakenAgainOrUnknown) {
  const Quad tiny(1e-17);
  const std::string leaky = "y = LeakyRelu <alpha = 100.0> (t)";
  ExpectTruths({
      TinyRow("Sign", "y = Sign(t)", ValueIs(0, 1, kPerhaps)),
      TinyRow("ThresholdedRelu", "s = Add(t, one) y = ThresholdedRelu(s)",
              ValueIs(0, Quad(1) + tiny, kPerhaps)),
      TinyRow("Shrink", "y = Shrink <lambd = 0.0, bias = 2.0> (t)",
              ValueIs(0, tiny - Quad(2), kPerhaps)),
      TinyRow("Cast", "i = Cast <to = 7> (a) y = Cast <to = 11> (i)",
              ValueIs(1, 0, kPerhaps)),
      TinyRow("Relu", "y = Relu(t)", ValueIs(1, 0)),
      TinyRow("Max", "d = Add(t, t) y = Max(d, t)", ValueIs(0, tiny + tiny)),
      TinyRow("LeakyRelu", leaky, ValueIs(1, Quad(-100) * tiny)),
      TinyRow("PRelu", "h = Add(one, one) y = PRelu(t, h)",
              ValueIs(1, Quad(-2) * tiny)),
      TinyRow("gradient of Relu", "y = Relu(t)", GradientIs(0, 1, 0, kPerhaps)),
      TinyRow("tangent of LeakyRelu", leaky, TangentIs(1, 100, kPerhaps)),
      TinyRow("gradient of Abs", "y = Abs(t)", GradientIs(0, 1, -1, kPerhaps)),
      TinyRow("Floor", "y = Floor(t)", ValueIs(1, -1, kPerhaps)),
      TinyRow("gradient of Floor", "y = Floor(t)",
              GradientIs(0, 1, 0, kPerhaps)),
      TinyRow("tangent where a branch is in doubt",
              "c = Less(t, x) y = Where(c, x, one)", TangentIs(1, 1, kPerhaps)),
  });
}

TEST(ExactDecisionsTest, IntegersThatHangOnADoubtAreNotKnown) {
  const auto present = [](const std::string& node, double x) {
    const auto network = NetworkOf(
        "g (double[2] x, double[2] one) => (int64[N] y) "
        "{ a = Add(x, one) t = Sub(a, one) " +
            node + " }",
        {.exact = true});
    const auto values = EvaluateAt(*network->exact(),
                                   ValuesOf({D({2}, {x, -x}), D({2}, {1, 1})}),
                                   Precision::kDouble);
    EXPECT_TRUE(values.ok()) << node;
    return values.ok() && (*values)[0].value.present();
  };
  for (const char* node :
       {"y = Cast <to = 7> (a)", "y = ArgMax <axis = 0> (t)"}) {
    EXPECT_FALSE(present(node, 1e-17)) << node;
    EXPECT_TRUE(present(node, 0.25)) << node;
  }
}

TEST(ExactDecisionsTest, TopKsIndicesAreADecision) {
  ExpectTruths({{"TopK",
                 Tiny("k = Constant <value_ints = [1]> () "
                      "v, i = TopK(t, k) f = Cast <to = 11> (i) y = Add(f, t)"),
                 {D({2}, {-1e-17, 1e-17}), D({2}, {1, 1})},
                 ValueIs(0, Quad(1) - Quad(1e-17), kPerhaps)}});
}

TEST(ExactDecisionsTest, WhatIsCountedIsADecision) {
  ExpectTruths({
      // The limit is 4 + 1e-17: one step more, and 4 is in the sum.
      TruthOf("Range",
              "s = Add(a, b) limit = Add(s, c) r = Range(b, limit, b) "
              "y = ReduceSum <keepdims = 0> (r)",
              {D({}, {1e-17}), D({}, {1}), D({}, {3})},
              ValueIs(0, 10, kPerhaps)),
      TinyRow("NonZero",
              "n = NonZero(t) f = Cast <to = 11> (n) "
              "s = ReduceSum <keepdims = 0> (f) y = Add(s, t)",
              ValueIs(0, Quad(1) + Quad(1e-17), kPerhaps)),
      // 250 hertz are at 16 * 250 / 1000 = 4, where the band begins with 0; in
      // double they come back from the mel scale as a little less.
      TruthOf(
          "MelWeightMatrix",
          "MelWeightMatrix <output_datatype = 11> (a, b, c, d, e)",
          {I({}, {1}), I({}, {15}), I({}, {1000}), D({}, {250}), D({}, {490})},
          ValueIs(4, 0, kPerhaps), "double[8,1] y"),
  });
}

TEST(ExactDecisionsTest, StepsOfQuantizationAndOfModelsAreDecisions) {
  // 0.5 + 1e-17 rounds to 1, 0.5 to 0; a and b are x and one.
  const std::string quantize =
      "t = Add(a, b) v = Sub(t, b) u = Add(v, c) q = QuantizeLinear(u, d) "
      "y = Cast <to = 1> (q)";
  const std::string product =
      "t = Add(a, b) v = Sub(t, b) u = Add(v, c) "
      "k = Constant <value_ints = [0]> () scale = Squeeze(u, k) "
      "q = QuantizeLinear(b, d) z = Sub(q, q) "
      "p = QLinearMatMul(q, d, z, q, scale, z, d, z) y = Cast <to = 1> (p)";
  const std::string tree =
      "s = Add(a, b) t = Sub(s, b) y = ai.onnx.ml.TreeEnsembleRegressor "
      "<n_targets = 1, nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], "
      "nodes_featureids = [0, 0, 0], nodes_values = [0.0, 0.0, 0.0], "
      "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], "
      "nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], "
      "target_treeids = [0, 0], target_nodeids = [1, 2], "
      "target_ids = [0, 0], target_weights = [3.0, 5.0]> (t)";
  ExpectTruths({
      TruthOf("QuantizeLinear", quantize,
              {F({1}, {1e-17}), F({1}, {1}), F({}, {0.5}), F({}, {1})},
              ValueIs(0, 1, kPerhaps)),
      TruthOf("QLinearMatMul", product,
              {F({1, 1}, {1e-17}), F({1, 1}, {1}), F({}, {0.5}), F({}, {1})},
              ValueIs(0, 1, kPerhaps)),
      TruthOf("LabelEncoder",
              "s = Add(a, b) t = Sub(s, b) "
              "y = ai.onnx.ml.LabelEncoder <keys_floats = [0.0], "
              "values_floats = [5.0], default_float = 7.0> (t)",
              {F({1}, {1e-17}), F({1}, {1})}, ValueIs(0, 7, kPerhaps)),
      // 1 - 1e-17 is cast to 0.
      TruthOf("OneHotEncoder",
              "s = Add(a, b) "
              "y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1]> (s)",
              {F({1}, {-1e-17}), F({1}, {1})}, ValueIs(0, 1, kPerhaps),
              "float[1,2] y"),
      TinyRow("Binarizer", "y = ai.onnx.ml.Binarizer <threshold = 0.0> (t)",
              ValueIs(0, 1, kPerhaps)),
      TinyRow("Imputer",
              "y = ai.onnx.ml.Imputer <imputed_value_floats = [5.0], "
              "replaced_value_float = 0.0> (t)",
              ValueIs(0, 1e-17, kPerhaps)),
      TruthOf("TreeEnsembleRegressor", tree,
              {D({1, 1}, {1e-17}), D({1, 1}, {1})}, ValueIs(0, 5, kPerhaps),
              "float[1,1] y"),
  });
}

TEST(ExactDecisionsTest, CellsOfRegionsAndKernelsAreDecisions) {
  const std::string mean = "s = Add(b, c) y = RoiAlign(a, s, d)";
  const std::string y = "double[1,1,1,1] y";
  const Feed none = D({1, 4}, {0, 0, 0, 0});
  ExpectTruths({
      TruthOf("DeformConv, the cell on the left", "DeformConv(a, b, c)",
              {D({1, 1, 1, 3}, {1, 2, 5}), D({1, 1, 1, 1}, {1}),
               D({1, 2, 1, 3}, {0, 0, 0, 0, -1e-17, 0})},
              ValueIs(1, Quad(2) - Quad(1e-17), kPerhaps)),
      // Samples at 0.25 and 0.75.
      TruthOf("RoiAlign's greatest",
              "s = Add(a, b) t = Sub(s, b) y = RoiAlign <mode = \"max\", "
              "sampling_ratio = 2, coordinate_transformation_mode = "
              "\"output_half_pixel\"> (t, c, d)",
              {D({1, 1, 1, 2}, {1e-17, 2e-17}), D({1, 1, 1, 2}, {1, 1}),
               D({1, 4}, {0, 0, 1, 1}), I({1}, {0})},
              ValueIs(0, Quad(0.75) * Quad(2e-17)), y),
      // 1 + 1e-17 wide: samples at 0 and at 0.25 + 0.75e-17.
      TruthOf("RoiAlign's samples", mean,
              {D({1, 1, 1, 2}, {0, 8}), D({1, 4}, {0, 0, 1, 1}),
               D({1, 4}, {0, 0, 1e-17, 0}), I({1}, {0})},
              ValueIs(0, Quad(1) + Quad(3) * Quad(1e-17), kPerhaps), y),
      // The right corner is 0.5 - 1e-17, which rounds to 0, and 0.5 in double.
      TruthOf("MaxRoiPool",
              "s = Sub(b, c) y = MaxRoiPool <pooled_shape = [1, 1]> (a, s)",
              {D({1, 1, 1, 2}, {2, 7}), D({1, 5}, {0, 0, 0, 0.5, 0}),
               D({1, 5}, {0, 0, 0, 1e-17, 0})},
              ValueIs(0, 2, kPerhaps), y),
      TruthOf("RoiAlign outside", mean,
              {D({1, 1, 1, 2}, {5, 8}), D({1, 4}, {-9, 0, -7, 1}), none,
               I({1}, {0})},
              ValueIs(0, 0), y),
  });
}

}  // namespace
}  // namespace assay::reference
