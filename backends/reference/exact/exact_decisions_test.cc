// SPDX-License-Identifier: Apache-2.0
//
// Numbers that decide: each of these rows decides otherwise in double than in
// exact arithmetic, so that the oracle must say the exact number, or that it
// does not know.

#include <gtest/gtest.h>

#include "backends/reference/truth_rows.h"
#include "framework/backend/exact.h"

namespace assay::reference {
namespace {

using enum Known;

TEST(ExactDecisionsTest, CellsOfAGridAreDecisions) {
  const auto grid = [](const std::string& type, const std::string& mode) {
    return "g (" + type + "[1,1,1,5] x, " + type + "[1,1,1,2] g) => (" + type +
           "[1,1,1,1] y) { y = GridSample <mode = \"" + mode + "\"> (x, g) }";
  };
  // x = ((-1e-17 + 1) 5 - 1) / 2 = 2 - 2.5e-17, left of the middle of 3.
  const Quad left = Quad(2.5) * Quad(-1e-17);
  const std::vector<double> row = {1, 1, 4, 9, 9};
  const std::vector<Feed> feeds = {D({1, 1, 1, 5}, row),
                                   D({1, 1, 1, 2}, {-1e-17, 0})};
  ExpectTruths({
      {"the cell on the right", grid("double", "linear"), feeds,
       ValueIs(0, Quad(4) + Quad(3) * left, kPerhaps)},
      {"its slope", grid("double", "linear"), feeds,
       GradientIs(1, 0, 3 * 2.5, kPerhaps)},
      // x = ((-1e-17 + 1) 4 - 1) / 2 = 1.5 - 2e-17, nearer to 1 than to 2.
      {"the nearest",
       "g (double[1,1,1,4] x, double[1,1,1,2] g) => (double[1,1,1,1] y) "
       "{ y = GridSample <mode = \"nearest\"> (x, g) }",
       {D({1, 1, 1, 4}, {1, 1, 4, 9}), D({1, 1, 1, 2}, {-1e-17, 0})},
       ValueIs(0, 1, kPerhaps)},
  });
}

TEST(ExactDecisionsTest, NumbersThatDecideAnExtentHaveDerivativesBetweenJumps) {
  // 2.75 / 0.75 is 3.7: four steps, start + i delta.
  const std::string range =
      "g (double s, double l, double d) => (double[4] y) { y = Range(s, l, d) "
      "}";
  const std::vector<Feed> steps = {D({}, {0.5}), D({}, {3.25}), D({}, {0.75})};
  // 4 * 1.375 is 5.5: five numbers, taken at (i + 0.5) / 1.375 - 0.5, which are
  // between numbers 0, 2, -1, 3 and 3 apart.
  const std::string resize =
      "g (double[1,1,4] x, float[1] s) => (double[1,1,5] y) "
      "{ y = Resize <mode = \"linear\", axes = [2]> (x, , s) }";
  const std::vector<Feed> scaled = {D({1, 1, 4}, {1, 3, 2, 5}),
                                    F({1}, {1.375})};
  const Quad slopes(-(1.5 * 2 - 2.5 * 1 + 3.5 * 3 + 4.5 * 3));
  ExpectTruths({
      {"start", range, steps, GradientIs(0, 0, 4)},
      {"limit", range, steps, GradientIs(1, 0, 0)},
      {"delta", range, steps, GradientIs(2, 0, 6)},
      {"scale", resize, scaled, GradientIs(1, 0, slopes / Quad(1.890625))},
  });
}

// 1 - 1e-17 is 1 in double, and is cut to 0.
TEST(ExactDecisionsTest, NumbersReadAsIntegersAreDecisions) {
  ExpectTruths(
      {{"a hot element",
        "g (double[1] x, double[1] one, double[2] v) => (double[1,2] y) "
        "{ i = Add(x, one) d = Constant <value_int = 2> () "
        "y = OneHot(i, d, v) }",
        {D({1}, {-1e-17}), D({1}, {1}), D({2}, {0, 1})},
        ValueIs(0, 1, kPerhaps)}});
}

// x + 1 - 1 is 0 in double, for a tiny x of either sign.
std::string Tiny(const std::string& nodes) {
  return "g (double[2] x, double[2] one) => (double[2] y) "
         "{ a = Add(x, one) t = Sub(a, one) " +
         nodes + " }";
}

// Such an x of either sign.
const std::vector<Feed> kTiny = {D({2}, {1e-17, -1e-17}), D({2}, {1, 1})};

TEST(ExactDecisionsTest, DecisionsInDoubtAreTakenAgainOrUnknown) {
  const Quad tiny(1e-17);
  ExpectTruths({
      {"Sign", Tiny("y = Sign(t)"), kTiny, ValueIs(0, 1, kPerhaps)},
      {"ThresholdedRelu", Tiny("s = Add(t, one) y = ThresholdedRelu(s)"), kTiny,
       ValueIs(0, Quad(1) + tiny, kPerhaps)},
      {"Shrink", Tiny("y = Shrink <lambd = 0.0, bias = 2.0> (t)"), kTiny,
       ValueIs(0, tiny - Quad(2), kPerhaps)},
      {"Cast", Tiny("i = Cast <to = 7> (a) y = Cast <to = 11> (i)"), kTiny,
       ValueIs(1, 0, kPerhaps)},
      {"Relu", Tiny("y = Relu(t)"), kTiny, ValueIs(1, 0)},
      {"Max", Tiny("d = Add(t, t) y = Max(d, t)"), kTiny,
       ValueIs(0, tiny + tiny)},
      {"LeakyRelu", Tiny("y = LeakyRelu <alpha = 100.0> (t)"), kTiny,
       ValueIs(1, Quad(-100) * tiny)},
      {"PRelu", Tiny("h = Add(one, one) y = PRelu(t, h)"), kTiny,
       ValueIs(1, Quad(-2) * tiny)},
      {"gradient of Relu", Tiny("y = Relu(t)"), kTiny,
       GradientIs(0, 1, 0, kPerhaps)},
      {"tangent of LeakyRelu", Tiny("y = LeakyRelu <alpha = 100.0> (t)"), kTiny,
       TangentIs(1, 100, kPerhaps)},
      {"gradient of Abs", Tiny("y = Abs(t)"), kTiny,
       GradientIs(0, 1, -1, kPerhaps)},
      {"Floor", Tiny("y = Floor(t)"), kTiny, ValueIs(1, -1, kPerhaps)},
      {"gradient of Floor", Tiny("y = Floor(t)"), kTiny,
       GradientIs(0, 1, 0, kPerhaps)},
      {"tangent where a branch is in doubt",
       Tiny("c = Less(t, x) y = Where(c, x, one)"), kTiny,
       TangentIs(1, 1, kPerhaps)},
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
  // The limit is 4 + 1e-17: one step more, and 4 is in the sum.
  const std::string range =
      "g (double x, double one, double three) => (double y) { "
      "a = Add(x, one) limit = Add(a, three) r = Range(one, limit, one) "
      "y = ReduceSum <keepdims = 0> (r) }";
  const std::string mel =
      "g (int64 b, int64 d, int64 r, double from, double to) => "
      "(double[8,1] y) { y = MelWeightMatrix <output_datatype = 11> "
      "(b, d, r, from, to) }";
  ExpectTruths({
      {"Range",
       range,
       {D({}, {1e-17}), D({}, {1}), D({}, {3})},
       ValueIs(0, 10, kPerhaps)},
      {"NonZero",
       Tiny("n = NonZero(t) f = Cast <to = 11> (n) "
            "s = ReduceSum <keepdims = 0> (f) y = Add(s, t)"),
       kTiny, ValueIs(0, Quad(1) + Quad(1e-17), kPerhaps)},
      // 250 hertz are at 16 * 250 / 1000 = 4, where the band begins with 0; in
      // double they come back from the mel scale as a little less.
      {"MelWeightMatrix",
       mel,
       {I({}, {1}), I({}, {15}), I({}, {1000}), D({}, {250}), D({}, {490})},
       ValueIs(4, 0, kPerhaps)},
  });
}

TEST(ExactDecisionsTest, StepsOfQuantizationAndOfModelsAreDecisions) {
  // 0.5 + 1e-17 rounds to 1, 0.5 to 0.
  const std::string quantize =
      "g (float[1] x, float[1] one, float half, float s) => (float[1] y) { "
      "a = Add(x, one) t = Sub(a, one) u = Add(t, half) "
      "q = QuantizeLinear(u, s) y = Cast <to = 1> (q) }";
  const std::string product =
      "g (float[1,1] x, float[1,1] one, float half, float s) => "
      "(float[1,1] y) { a = Add(x, one) t = Sub(a, one) u = Add(t, half) "
      "k = Constant <value_ints = [0]> () scale = Squeeze(u, k) "
      "q = QuantizeLinear(one, s) z = Sub(q, q) "
      "p = QLinearMatMul(q, s, z, q, scale, z, s, z) y = Cast <to = 1> (p) }";
  const std::string tree =
      "g (double[1,1] x, double[1,1] one) => (float[1,1] y) { "
      "a = Add(x, one) t = Sub(a, one) y = ai.onnx.ml.TreeEnsembleRegressor "
      "<n_targets = 1, nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], "
      "nodes_featureids = [0, 0, 0], nodes_values = [0.0, 0.0, 0.0], "
      "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], "
      "nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], "
      "target_treeids = [0, 0], target_nodeids = [1, 2], "
      "target_ids = [0, 0], target_weights = [3.0, 5.0]> (t) }";
  ExpectTruths({
      {"QuantizeLinear",
       quantize,
       {F({1}, {1e-17}), F({1}, {1}), F({}, {0.5}), F({}, {1})},
       ValueIs(0, 1, kPerhaps)},
      {"QLinearMatMul",
       product,
       {F({1, 1}, {1e-17}), F({1, 1}, {1}), F({}, {0.5}), F({}, {1})},
       ValueIs(0, 1, kPerhaps)},
      {"LabelEncoder",
       "g (float[1] x, float[1] one) => (float[1] y) { a = Add(x, one) "
       "t = Sub(a, one) y = ai.onnx.ml.LabelEncoder <keys_floats = [0.0], "
       "values_floats = [5.0], default_float = 7.0> (t) }",
       {F({1}, {1e-17}), F({1}, {1})},
       ValueIs(0, 7, kPerhaps)},
      // 1 - 1e-17 is cast to 0.
      {"OneHotEncoder",
       "g (float[1] x, float[1] one) => (float[1,2] y) { a = Add(x, one) "
       "y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1]> (a) }",
       {F({1}, {-1e-17}), F({1}, {1})},
       ValueIs(0, 1, kPerhaps)},
      {"Binarizer", Tiny("y = ai.onnx.ml.Binarizer <threshold = 0.0> (t)"),
       kTiny, ValueIs(0, 1, kPerhaps)},
      {"Imputer",
       Tiny("y = ai.onnx.ml.Imputer <imputed_value_floats = [5.0], "
            "replaced_value_float = 0.0> (t)"),
       kTiny, ValueIs(0, 1e-17, kPerhaps)},
      {"TreeEnsembleRegressor",
       tree,
       {D({1, 1}, {1e-17}), D({1, 1}, {1})},
       ValueIs(0, 5, kPerhaps)},
  });
}

TEST(ExactDecisionsTest, CellsOfRegionsAndKernelsAreDecisions) {
  const std::string deform =
      "g (double[1,1,1,3] x, double[1,1,1,1] w, double[1,2,1,3] at) => "
      "(double[1,1,1,3] y) { y = DeformConv(x, w, at) }";
  const std::string greatest =
      "g (double[1,1,1,2] x, double[1,1,1,2] one, double[1,4] r, int64[1] b) "
      "=> (double[1,1,1,1] y) { a = Add(x, one) t = Sub(a, one) y = RoiAlign "
      "<mode = \"max\", sampling_ratio = 2, coordinate_transformation_mode = "
      "\"output_half_pixel\"> (t, r, b) }";
  const std::string mean =
      "g (double[1,1,1,2] x, double[1,4] r, double[1,4] tiny, int64[1] b) "
      "=> (double[1,1,1,1] y) { s = Add(r, tiny) y = RoiAlign(x, s, b) }";
  // The right corner is 0.5 - 1e-17, which rounds to 0, and 0.5 in double.
  const std::string pool =
      "g (double[1,1,1,2] x, double[1,5] r, double[1,5] tiny) => "
      "(double[1,1,1,1] y) { s = Sub(r, tiny) "
      "y = MaxRoiPool <pooled_shape = [1, 1]> (x, s) }";
  const Feed none = D({1, 4}, {0, 0, 0, 0});
  ExpectTruths({
      {"DeformConv, the cell on the left",
       deform,
       {D({1, 1, 1, 3}, {1, 2, 5}), D({1, 1, 1, 1}, {1}),
        D({1, 2, 1, 3}, {0, 0, 0, 0, -1e-17, 0})},
       ValueIs(1, Quad(2) - Quad(1e-17), kPerhaps)},
      // Samples at 0.25 and 0.75.
      {"RoiAlign's greatest",
       greatest,
       {D({1, 1, 1, 2}, {1e-17, 2e-17}), D({1, 1, 1, 2}, {1, 1}),
        D({1, 4}, {0, 0, 1, 1}), I({1}, {0})},
       ValueIs(0, Quad(0.75) * Quad(2e-17))},
      // 1 + 1e-17 wide: samples at 0 and at 0.25 + 0.75e-17.
      {"RoiAlign's samples",
       mean,
       {D({1, 1, 1, 2}, {0, 8}), D({1, 4}, {0, 0, 1, 1}),
        D({1, 4}, {0, 0, 1e-17, 0}), I({1}, {0})},
       ValueIs(0, Quad(1) + Quad(3) * Quad(1e-17), kPerhaps)},
      {"MaxRoiPool",
       pool,
       {D({1, 1, 1, 2}, {2, 7}), D({1, 5}, {0, 0, 0, 0.5, 0}),
        D({1, 5}, {0, 0, 0, 1e-17, 0})},
       ValueIs(0, 2, kPerhaps)},
      {"RoiAlign outside",
       mean,
       {D({1, 1, 1, 2}, {5, 8}), D({1, 4}, {-9, 0, -7, 1}), none, I({1}, {0})},
       ValueIs(0, 0)},
  });
}

}  // namespace
}  // namespace assay::reference
