// SPDX-License-Identifier: Apache-2.0
//
// Answers of the oracle where it is hard to be right: each against the exact
// number, in every precision, which must lie within the stated bound. The truth
// of each row is worked out by hand, beside it.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/tape/quad.h"

namespace assay::reference {
namespace {

enum class Ask : uint8_t { kValue, kVjp, kJvp };
/// How much of a number the oracle has to know.
enum class Known : uint8_t {
  kAlways,   // a finite bound in every precision
  kInQuad,   // in more than double
  kPerhaps,  // never, if its bound says so
};

struct TruthRow {
  const char* fault;
  std::string graph;
  std::vector<Feed> feeds;
  Ask ask;
  size_t of;  // output; of a gradient, input
  size_t at;  // element
  Quad truth;
  Known known;
};

Quad Ratio(double a, double b) { return Quad(a) / Quad(b); }

Feed OneLike(const Feed& feed) {
  return D(feed.shape, std::vector<double>(feed.values.size(), 1));
}

// The value asked for, with directions of ones.
Result<ExactValue> Answer(Network& network, const TruthRow& row,
                          Precision precision) {
  std::vector<Value> inputs, ones;
  for (const Feed& feed : row.feeds) {
    inputs.emplace_back(feed.Make());
    ones.emplace_back(
        feed.dtype == DType::kInt64 ? Value() : Value(OneLike(feed).Make()));
  }
  Exact& exact = *network.exact();
  Result<std::vector<ExactValue>> answers = exact.Evaluate(inputs, precision);
  if (answers.ok() && row.ask == Ask::kVjp) {
    std::vector<Value> cotangents;
    for (const ExactValue& output : *answers) {
      const Tensor& like = *output.value.tensor();
      cotangents.emplace_back(OneLike({DType::kFloat64, like.shape(),
                                       std::vector<double>(static_cast<size_t>(
                                           like.num_elements()))})
                                  .Make());
    }
    answers = exact.Vjp(inputs, cotangents, precision);
  } else if (answers.ok() && row.ask == Ask::kJvp) {
    answers = exact.Jvp(inputs, ones, precision);
  }
  if (!answers.ok()) return answers.status();
  return answers->at(row.of);
}

void ExpectTruth(const TruthRow& row) {
  RowBackend backend;
  LoadOptions options;
  options.exact = true;
  const auto network = backend.Load(ModelOf(row.graph), options);
  ASSERT_TRUE(network.ok()) << row.fault << network.status().ToString();
  for (const Precision precision :
       {Precision::kDouble, Precision::kQuad, Precision::kArbitrary}) {
    const auto answer = Answer(**network, row, precision);
    ASSERT_TRUE(answer.ok()) << row.fault << answer.status().ToString();
    const double value = answer->value.tensor()->elements<double>()[row.at];
    const double tail = answer->tail.elements<double>()[row.at];
    const double bound = answer->bound.elements<double>()[row.at];
    // The truth itself has 113 bits.
    const double slack = 0x1p-111 * std::abs(ToDouble(row.truth));
    const double off = std::abs(ToDouble(Quad(value) + Quad(tail) - row.truth));
    EXPECT_LE(off, bound + slack)
        << row.fault << ": in precision " << static_cast<int>(precision)
        << " found " << value << " + " << tail << " within " << bound;
    const bool must =
        row.known == Known::kAlways ||
        (row.known == Known::kInQuad && precision != Precision::kDouble);
    EXPECT_TRUE(!must || std::isfinite(bound)) << row.fault;
  }
}

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
  const std::vector<TruthRow> rows = {
      {"weights in double", linear, line, Ask::kValue, 0, 1, Quad(5),
       Known::kAlways},
      {"weights in double, gradient", linear, line, Ask::kVjp, 0, 0,
       Quad(1) + Ratio(10, 14), Known::kAlways},
      {"weights in double, corners",
       corners,
       {D({1, 1, 4}, {0, 10, 1, 1}), I({3}, {1, 1, 11})},
       Ask::kValue,
       0,
       1,
       Quad(3),
       Known::kAlways},
  };
  for (const TruthRow& row : rows) ExpectTruth(row);
}

TEST(ExactValuesTest, DeterminantsOfSingularMatricesAreRight) {
  const std::string three = "g (float[3,3] x) => (float y) { y = Det(x) }";
  const std::string two = "g (double[2,2] x) => (double y) { y = Det(x) }";
  const std::vector<Feed> unimodular = {
      F({3, 3}, {19823, 26218, -162, 3425023, 4578541, -28292, 6797157,
                 -4031885, 25281})};
  const double third = 1.0 / 3;
  const std::vector<Feed> singular = {D({2, 2}, {1, 2, 2, 4})};
  const std::vector<TruthRow> rows = {
      {"a pivot of 0", three, unimodular, Ask::kValue, 0, 0, Quad(1),
       Known::kAlways},
      {"a product that rounds",
       two,
       {D({2, 2}, {1, third, 3, 1})},
       Ask::kValue,
       0,
       0,
       Quad(0x1p-54),
       Known::kAlways},
      {"a singular matrix has a gradient", two, singular, Ask::kVjp, 0, 0,
       Quad(4), Known::kAlways},
      {"off the diagonal", two, singular, Ask::kVjp, 0, 1, Quad(-2),
       Known::kAlways},
      {"of rank 1",
       two,
       {D({2, 2}, {0, 0, 0, 3})},
       Ask::kVjp,
       0,
       0,
       Quad(3),
       Known::kAlways},
  };
  for (const TruthRow& row : rows) ExpectTruth(row);
}

TEST(ExactValuesTest, CellsOfAGridAreDecisions) {
  const auto grid = [](const std::string& type, const std::string& mode) {
    return "g (" + type + "[1,1,1,5] x, " + type + "[1,1,1,2] g) => (" + type +
           "[1,1,1,1] y) { y = GridSample <mode = \"" + mode + "\"> (x, g) }";
  };
  // x = ((-1e-17 + 1) 5 - 1) / 2 = 2 - 2.5e-17, left of the middle of 3.
  const Quad left = Quad(2.5) * Quad(-1e-17);
  const std::vector<double> row = {1, 1, 4, 9, 9};
  const std::vector<Feed> feeds = {D({1, 1, 1, 5}, row),
                                   D({1, 1, 1, 2}, {-1e-17, 0})};
  const std::vector<TruthRow> rows = {
      {"the cell on the right", grid("double", "linear"), feeds, Ask::kValue, 0,
       0, Quad(4) + Quad(3) * left, Known::kPerhaps},
      {"its slope", grid("double", "linear"), feeds, Ask::kVjp, 1, 0,
       Quad(3 * 2.5), Known::kPerhaps},
      // x = ((g + 1) 5 - 1) / 2 is 1.5 - 2.5e-17 for g = -0.2 - 1e-17, which is
      // not exact in float64; of 0.4 less it is on the other side for sure.
      {"the nearest",
       grid("double", "nearest"),
       {D({1, 1, 1, 5}, row), D({1, 1, 1, 2}, {-0.4, 0})},
       Ask::kValue,
       0,
       0,
       Quad(1),
       Known::kAlways},
  };
  for (const TruthRow& one : rows) ExpectTruth(one);
}

// x + 1 - 1 is 0 in double, for a tiny x of either sign.
std::string Tiny(const std::string& nodes) {
  return "g (double[2] x, double[2] one) => (double[2] y) "
         "{ a = Add(x, one) t = Sub(a, one) " +
         nodes + " }";
}

TEST(ExactValuesTest, DecisionsInDoubtAreTakenAgainOrUnknown) {
  const std::vector<Feed> feeds = {D({2}, {1e-17, -1e-17}), D({2}, {1, 1})};
  const Quad tiny(1e-17);
  const std::vector<TruthRow> rows = {
      {"Sign", Tiny("y = Sign(t)"), feeds, Ask::kValue, 0, 0, Quad(1),
       Known::kPerhaps},
      {"ThresholdedRelu", Tiny("s = Add(t, one) y = ThresholdedRelu(s)"), feeds,
       Ask::kValue, 0, 0, Quad(1) + tiny, Known::kPerhaps},
      {"Shrink", Tiny("y = Shrink <lambd = 0.0, bias = 2.0> (t)"), feeds,
       Ask::kValue, 0, 0, tiny - Quad(2), Known::kPerhaps},
      {"Cast", Tiny("i = Cast <to = 7> (a) y = Cast <to = 11> (i)"), feeds,
       Ask::kValue, 0, 1, Quad(0), Known::kPerhaps},
      {"Relu", Tiny("y = Relu(t)"), feeds, Ask::kValue, 0, 1, Quad(0),
       Known::kAlways},
      {"Max", Tiny("d = Add(t, t) y = Max(d, t)"), feeds, Ask::kValue, 0, 0,
       tiny + tiny, Known::kAlways},
      {"LeakyRelu", Tiny("y = LeakyRelu <alpha = 100.0> (t)"), feeds,
       Ask::kValue, 0, 1, Quad(-100) * tiny, Known::kAlways},
      {"PRelu", Tiny("h = Add(one, one) y = PRelu(t, h)"), feeds, Ask::kValue,
       0, 1, Quad(-2) * tiny, Known::kAlways},
      {"gradient of Relu", Tiny("y = Relu(t)"), feeds, Ask::kVjp, 0, 1, Quad(0),
       Known::kPerhaps},
      {"tangent of LeakyRelu", Tiny("y = LeakyRelu <alpha = 100.0> (t)"), feeds,
       Ask::kJvp, 0, 1, Quad(100), Known::kPerhaps},
      {"gradient of Abs", Tiny("y = Abs(t)"), feeds, Ask::kVjp, 0, 1, Quad(-1),
       Known::kPerhaps},
      {"gradient of Floor", Tiny("y = Floor(t)"), feeds, Ask::kVjp, 0, 1,
       Quad(0), Known::kPerhaps},
      {"tangent where a branch is in doubt",
       Tiny("c = Less(t, x) y = Where(c, x, one)"), feeds, Ask::kJvp, 0, 1,
       Quad(1), Known::kPerhaps},
  };
  for (const TruthRow& row : rows) ExpectTruth(row);
}

TEST(ExactValuesTest, TopKsIndicesAreADecision) {
  ExpectTruth({"TopK",
               Tiny("k = Constant <value_ints = [1]> () "
                    "v, i = TopK(t, k) f = Cast <to = 11> (i) y = Add(f, t)"),
               {D({2}, {-1e-17, 1e-17}), D({2}, {1, 1})},
               Ask::kValue,
               0,
               0,
               Quad(1) - Quad(1e-17),
               Known::kPerhaps});
}

TEST(ExactValuesTest, WhatIsBeyondDoubleOnTheWayIsUnknown) {
  const std::vector<TruthRow> rows = {
      {"Log of Exp",
       "g (float[1] x) => (float[1] y) { e = Exp(x) y = Log(e) }",
       {F({1}, {-800})},
       Ask::kValue,
       0,
       0,
       Quad(-800),
       Known::kPerhaps},
      {"its gradient",
       "g (float[1] x) => (float[1] y) { e = Exp(x) y = Log(e) }",
       {F({1}, {-800})},
       Ask::kVjp,
       0,
       0,
       Quad(1),
       Known::kPerhaps},
      {"a product that comes back",
       "g (double[4] x) => (double y) { y = ReduceProd <keepdims = 0> (x) }",
       {D({4}, {1e200, 1e200, 1e-200, 1e-200})},
       Ask::kValue,
       0,
       0,
       Quad(1e200) * Quad(1e200) * Quad(1e-200) * Quad(1e-200),
       Known::kPerhaps},
      {"a great number has a bound",
       "g (double[1] x) => (double[1] y) { y = Mul(x, x) }",
       {D({1}, {0x1.5555555555555p511})},
       Ask::kValue,
       0,
       0,
       Quad(0x1.5555555555555p511) * Quad(0x1.5555555555555p511),
       Known::kAlways},
      {"Acosh' of a great number",
       "g (double[1] x) => (double[1] y) { y = Acosh(x) }",
       {D({1}, {1e300})},
       Ask::kVjp,
       0,
       0,
       Quad(1) / Quad(1e300),
       Known::kAlways},
      {"Asinh'",
       "g (double[1] x) => (double[1] y) { y = Asinh(x) }",
       {D({1}, {-1e300})},
       Ask::kVjp,
       0,
       0,
       Quad(1) / Quad(1e300),
       Known::kAlways},
      {"Atan'",
       "g (double[1] x) => (double[1] y) { y = Atan(x) }",
       {D({1}, {0x1p100})},
       Ask::kVjp,
       0,
       0,
       Quad(0x1p-200),
       Known::kAlways},
      {"a saturated Tanh'",
       "g (double[1] x) => (double[1] y) { y = Tanh(x) }",
       {D({1}, {1000})},
       Ask::kVjp,
       0,
       0,
       Quad(0),
       Known::kAlways},
      {"an infinity that is given",
       "g (double[2] x) => (double[2] y) { y = Exp(x) }",
       {D({2}, {-std::numeric_limits<double>::infinity(), 0})},
       Ask::kValue,
       0,
       0,
       Quad(0),
       Known::kAlways},
  };
  for (const TruthRow& row : rows) ExpectTruth(row);
}

TEST(ExactValuesTest, ATangentThatVanishesInDoubleKeepsItsBound) {
  // (a - 1/3) 1e20 with a the double next to a third, which is 2^-54/3 below.
  const double third = 1.0 / 3;
  ExpectTruth({"a tangent of 0",
               "g (double[1] x, double[1] a, double[1] three, double[1] much) "
               "=> (double[1] y) { p = Mul(x, a) q = Div(x, three) "
               "d = Sub(p, q) y = Mul(d, much) }",
               {D({1}, {0}), D({1}, {third}), D({1}, {3}), D({1}, {1e20})},
               Ask::kJvp,
               0,
               0,
               Ratio(-0x1p-54, 3) * Quad(1e20),
               Known::kAlways});
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
    RowBackend backend;
    LoadOptions options;
    options.exact = true;
    const auto network = backend.Load(ModelOf(row.graph), options);
    ASSERT_TRUE(network.ok()) << network.status().ToString();
    const std::vector<Value> inputs = {row.x.Make()};
    const auto exact =
        (*network)->exact()->Evaluate(inputs, Precision::kDouble);
    ASSERT_TRUE(exact.ok()) << exact.status().ToString();
    const double value = (*exact)[0].value.tensor()->elements<double>()[row.at];
    const double bound = (*exact)[0].bound.elements<double>()[row.at];
    EXPECT_LE(bound, row.units * 0x1p-53 * std::abs(value)) << row.graph;
  }
}

}  // namespace
}  // namespace assay::reference
