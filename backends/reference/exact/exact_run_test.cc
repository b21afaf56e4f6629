// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using testing::ElementsAre;

// A network and the last run of it.
struct Running {
  explicit Running(const std::string& graph)
      : network(NetworkOf(graph, {.exact = true})) {}
  Status At(const std::vector<Feed>& feeds,
            const std::vector<std::string>& targets) {
    ASSAY_ASSIGN_OR_RETURN(run, network->exact()->At(ValuesOf(feeds), targets));
    return OkStatus();
  }

  std::unique_ptr<Network> network;
  std::unique_ptr<ExactRun> run;
};

const std::string kAffine =
    "g (float[2] x) => (float[2] y) <float[2] w = {3, 4}, int64[1] n = {1}> "
    "{ p = Mul(x, w) y = Add(p, x) }";

// Kills: an initializer that is a constant to derivatives; targets in another
// order than they are named in.
TEST(ExactRunTest, TargetsAreInputsAndInitializersByName) {
  Running affine(kAffine);
  ASSERT_TRUE(affine.At({F({2}, {1, 2})}, {"w", "x"}).ok());
  const auto vjp = Got(affine.run->Vjp(Ones(2), Precision::kDouble));
  EXPECT_THAT(DoublesOf(vjp[0].value), ElementsAre(1, 2));
  EXPECT_THAT(DoublesOf(vjp[1].value), ElementsAre(4, 5));
  const auto along = ValuesOf({D({2}, {10, 0}), D({2}, {0, 1})});
  const auto jvp = Got(affine.run->Jvp(along, Precision::kDouble));
  EXPECT_THAT(DoublesOf(jvp[0].value), ElementsAre(10, 5));
  const auto slope = Got(affine.run->Difference(along, Ones(2)));
  EXPECT_NEAR(slope.value, 15, 1e-9);
}

TEST(ExactRunTest, WhatIsNoTargetIsNamed) {
  Running affine(kAffine);
  const std::vector<Feed> feeds = {F({2}, {1, 2})};
  EXPECT_EQ(affine.At(feeds, {"p"}).message(),
            "target 'p' is no input and no initializer");
  EXPECT_EQ(
      affine.At(feeds, {"n"}).message(),
      "target 'n' is int64[1], wanted a tensor of floating-point numbers");
  EXPECT_EQ(affine.At({}, {}).message(), "found 0 inputs, wanted 1");
}

// Kills: numbers of one precision that are taken for those of another.
TEST(ExactRunTest, QuestionsInTurnAreAnsweredAsAlone) {
  Running erf("g (float[1] x) => (float[1] y) { e = Exp(x) y = Erf(e) }");
  const std::vector<Feed> feeds = {F({1}, {-0.75})};
  const Precision all[] = {Precision::kDouble, Precision::kQuad,
                           Precision::kArbitrary};
  std::vector<double> alone, in_turn;
  const auto note = [&](Precision precision, std::vector<double>* numbers) {
    const auto y = Got(erf.run->Evaluate(precision));
    const auto dx = Got(erf.run->Vjp(Ones(1), precision));
    for (const ExactValue& exact : {y[0], dx[0]}) {
      numbers->push_back(DoublesOf(exact.value)[0]);
      numbers->push_back(DoublesOf(exact.tail)[0]);
      numbers->push_back(DoublesOf(exact.bound)[0]);
    }
  };
  for (const Precision precision : all) {
    ASSERT_TRUE(erf.At(feeds, {"x"}).ok());
    note(precision, &alone);
  }
  for (int round = 0; round < 2; ++round) {
    in_turn.clear();
    for (const Precision precision : all) note(precision, &in_turn);
    EXPECT_EQ(in_turn, alone);
  }
}

// Kills: units that leave out the sums, or the factors of a derivative.
TEST(ExactRunTest, UnitsCountRoundings) {
  // In ((a b) + c)^2 at 2, 3, 1 the product has its own rounding and those of a
  // and b, c has its own, the sum only a hard one.
  Running square(
      "g (float[1] a, float[1] b, float[1] c) => (float[1] y) "
      "{ p = Mul(a, b) s = Add(p, c) y = Mul(s, s) }");
  ASSERT_TRUE(
      square.At({F({1}, {2}), F({1}, {3}), F({1}, {1})}, {"a", "c"}).ok());
  const double off = 3 * 6 + 1;  // of s
  const double hard = off + 7;
  const auto units = Got(square.run->EvaluateUnits(UnitKind::kCondition));
  const auto more = Got(square.run->EvaluateUnits(UnitKind::kHard));
  EXPECT_EQ(DoublesOf(units[0])[0], 2 * 7 * off + 49);
  EXPECT_EQ(DoublesOf(more[0])[0], 2 * 7 * hard + 49);
  // dy/dc = 2 s dy, in two products that are added; dy/da = b dy/dc.
  const double of_c = 2 * (off + 7 + 7);
  const auto vjp = Got(square.run->VjpUnits(Ones(1), UnitKind::kCondition));
  EXPECT_EQ(DoublesOf(vjp[1])[0], of_c);
  EXPECT_EQ(DoublesOf(vjp[0])[0], 3 * of_c + 2 * (14 * 3));
  const auto hard_vjp = Got(square.run->VjpUnits(Ones(1), UnitKind::kHard));
  EXPECT_EQ(DoublesOf(hard_vjp[1])[0], of_c + 2 * 7 + 14);
  const std::vector<v1::Value> along = {assay::Value(), D({1}, {1}).Make()};
  const auto jvp = Got(square.run->JvpUnits(along, UnitKind::kCondition));
  EXPECT_EQ(DoublesOf(jvp[0])[0], of_c);
}

// Kills: units of values beside a jump, where no first order holds, and units
// of derivatives that leave the branch that was taken.
TEST(ExactRunTest, UnitsBesideAJump) {
  Running jump(
      "g (float[1] x) => (float[1] y) <float[1] one = {1}> "
      "{ c = Less(x, one) y = Where(c, x, one) }");
  for (const double at : {1.0, 3.0}) {
    ASSERT_TRUE(jump.At({F({1}, {at})}, {"x"}).ok());
    const auto values = Got(jump.run->EvaluateUnits(UnitKind::kCondition));
    const auto units = Got(jump.run->VjpUnits(Ones(1), UnitKind::kCondition));
    const auto along = Got(jump.run->JvpUnits(Ones(1), UnitKind::kHard));
    EXPECT_EQ(DoublesOf(values[0])[0] == kInf, at == 1);
    EXPECT_LT(DoublesOf(units[0])[0], 4);
    EXPECT_LT(DoublesOf(along[0])[0], 4);
  }
}

// Kills: a position that every backend finds and that is said to round, so that
// nothing is known of a Resize to twice the length; one that rounds and is not.
TEST(ExactRunTest, UnitsOfPositionsAreThoseOfRoundings) {
  const std::string nearest =
      "Resize <mode = \"nearest\", coordinate_transformation_mode = ";
  const auto most = [&](int64_t length, const std::string& given,
                        const std::string& resize) {
    Running resized(StrCat("g (float[1,1,2] x) => (float[1,1,", length,
                           "] y) <", given, "> { y = ", nearest, resize, " }"));
    EXPECT_TRUE(resized.At({F({1, 1, 2}, {3, 5})}, {"x"}).ok());
    return std::ranges::max(
        DoublesOf(Got(resized.run->EvaluateUnits(UnitKind::kCondition))[0]));
  };
  // Output 1 of 4 is at 0.5, between two elements; 2 of 5 at 2.5 / 2.5 - 0.5.
  const std::string twice = "float[3] s = {1, 1, 2}";
  const std::string four = "int64[3] n = {1, 1, 4}";
  EXPECT_LT(most(4, twice, "\"asymmetric\"> (x, , s)"), kInf);
  EXPECT_LT(most(4, four, "\"asymmetric\"> (x, , , n)"), kInf);
  EXPECT_LT(most(4, twice, "\"half_pixel\"> (x, , s)"), kInf);
  EXPECT_EQ(most(5, "int64[3] n = {1, 1, 5}", "\"half_pixel\"> (x, , , n)"),
            kInf);
}

// Kills: a mask of -inf that is charged a rounding, so that nothing is known of
// a row that has one.
TEST(ExactRunTest, UnitsOfAMaskedRowAreKnown) {
  Running masked(
      "g (float[3] x, float[3] mask) => (float[3] p, float[3] l, float[1] s) "
      "{ z = Add(x, mask) p = Softmax(z) l = LogSoftmax(z) "
      "s = ReduceLogSumExp(z) }");
  ASSERT_TRUE(
      masked.At({F({3}, {0.5, 0.25, 1.5}), F({3}, {-kInf, 0, 0})}, {"x"}).ok());
  const auto units = Got(masked.run->EvaluateUnits(UnitKind::kCondition));
  for (const Tensor& of_output : units) {
    for (const double number : DoublesOf(of_output)) EXPECT_LT(number, 20);
  }
  for (size_t i = 0; i < 3; ++i) {
    std::vector<v1::Value> dy(3);
    dy[i] = i < 2 ? D({3}, {0, 2, 4}).Make() : D({1}, {1}).Make();
    const auto vjp = Got(masked.run->VjpUnits(dy, UnitKind::kCondition));
    const std::vector<double> of_x = DoublesOf(vjp[0]);
    EXPECT_EQ(of_x[0], 0);
    EXPECT_GT(of_x[1], 0);
    EXPECT_LT(of_x[1], 100);
  }
}

// Kills: a derivative that is known beside an infinite maximum, of a row that
// is no number.
TEST(ExactRunTest, UnitsBesideAnInfiniteMaximumAreUnknown) {
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    Running row("g (float[3] x) => (float[3] y) { y = " + op + "(x) }");
    ASSERT_TRUE(row.At({F({3}, {0.5, kInf, 1.5})}, {"x"}).ok());
    const auto vjp = Got(row.run->VjpUnits(Ones(3), UnitKind::kCondition));
    EXPECT_THAT(DoublesOf(vjp[0]), testing::Each(kInf)) << op;
  }
}

// Kills: a derivative that is known where an infinite one meets 0.
TEST(ExactRunTest, UnitsOfZeroTimesInfinityAreUnknown) {
  Running root(
      "g (float[2] x) => (float[2] y) <float[2] m = {0, 1}> "
      "{ z = Mul(x, m) d = Mul(z, m) y = Sqrt(d) }");
  ASSERT_TRUE(root.At({F({2}, {4, 4})}, {"x"}).ok());
  for (int question = 0; question < 2; ++question) {
    const auto vjp = Got(root.run->VjpUnits(Ones(2), UnitKind::kCondition));
    EXPECT_EQ(DoublesOf(vjp[0])[0], kInf);
    EXPECT_LT(DoublesOf(vjp[0])[1], 4);
  }
}

// Kills: one way of a tie only, in a network.
TEST(ExactRunTest, HullsHoldAllThatTiesPermit) {
  struct Row {
    std::string node;
    std::vector<double> x, low, high;
  };
  const double tie = 1 + 0x1p-23;  // times a third, times 3: 1 or beside it
  const Row rows[] = {
      {"y = Relu(x)", {0, 1e-30, -1}, {0, 1, 0}, {1, 1, 0}},
      {"y = Abs(x)", {0, 2, -1e-30}, {-1, 1, -1}, {1, 1, -1}},
      // Each formula of a selection may have all or nothing.
      {"y = LeakyRelu <alpha = 0.5> (x)",
       {0, 1, -1},
       {0, 1, 0.5},
       {1.5, 1, 0.5}},
      {"y = ReduceMax <keepdims = 0> (x)", {5, 5, 4}, {0, 0, 0}, {1, 1, 0}},
      // Along each element a norm of zeros is the magnitude of that.
      {"y = ReduceL2 <keepdims = 0> (x)", {0, 0, 0}, {-1, -1, -1}, {1, 1, 1}},
      {"y = ReduceL2 <keepdims = 0> (x)", {0, 3, 4}, {0, .6, .8}, {0, .6, .8}},
      {"s = Constant <value_ints = [1, 1, 3]> () r = Reshape(x, s) "
       "y = LpPool <kernel_shape = [2], p = 3> (r)",
       {0, 0, 2},
       {-1, -1, 1},
       {1, 1, 1}},
      {"y = Sign(x)", {0, 1, -1}, {0, 0, 0}, {0, 0, 0}},
      // A number is not tied with itself.
      {"y = Max(x, x)", {1, 0, -1}, {1, 1, 1}, {1, 1, 1}},
      {"n = Constant <value_ints = [1]> () y, i = TopK (x, n)",
       {5, 4, 3},
       {1, 0, 0},
       {1, 0, 0}},
      {"t = Constant <value_floats = [3.0]> () o = Constant <value_floats = "
       "[1.0]> () q = Div(x, t) p = Mul(q, t) d = Sub(p, o) y = Relu(d)",
       {tie, 1, 2},
       {0, 0, 1},
       {1, 1, 1}},
  };
  for (const Row& row : rows) {
    Running loaded("g (float[3] x) => (float[N] y) { " + row.node + " }");
    ASSERT_TRUE(loaded.At({F({3}, row.x)}, {"x"}).ok()) << row.node;
    const auto y = loaded.run->Evaluate(Precision::kDouble);
    ASSERT_TRUE(y.ok()) << row.node << y.status().message();
    std::vector<v1::Value> ones;
    for (const ExactValue& output : *y) {
      const Tensor* const like = output.value.tensor();
      if (!output.bound.defined()) {
        ones.emplace_back();  // of indices
        continue;
      }
      const std::vector<double> all(like->elements<double>().size(), 1);
      ones.emplace_back(D(like->shape(), all).Make());
    }
    const auto hull = loaded.run->VjpHull(ones, kFloat32Roundoff);
    ASSERT_TRUE(hull.ok()) << row.node << hull.status().message();
    EXPECT_THAT(DoublesOf((*hull)[0].low),
                testing::Pointwise(testing::DoubleNear(1e-6), row.low))
        << row.node;
    EXPECT_THAT(DoublesOf((*hull)[0].high),
                testing::Pointwise(testing::DoubleNear(1e-6), row.high))
        << row.node;
  }
}

// Kills: hulls of one roundoff that are taken for those of another.
TEST(ExactRunTest, HullsAreOfTheRoundoffThatIsAskedFor) {
  Running tied(
      "g (float[1] x) => (float[1] y) <float[1] t = {3}, float[1] one = {1}> "
      "{ q = Div(x, t) p = Mul(q, t) d = Sub(p, one) y = Relu(d) }");
  ASSERT_TRUE(tied.At({F({1}, {1 + 0x1p-23})}, {"x"}).ok());
  for (const double roundoff : {kFloat32Roundoff, 0x1p-53, kFloat32Roundoff}) {
    const auto hull = Got(tied.run->VjpHull(Ones(1), roundoff));
    EXPECT_NEAR(DoublesOf(hull[0].low)[0], roundoff == kFloat32Roundoff ? 0 : 1,
                1e-6);
  }
}

TEST(ExactRunTest, AHullBesideAJumpIsTheWholeLine) {
  Running jump(
      "g (float[1] x) => (float[1] y) <float[1] t = {3}, float[1] one = {1}> "
      "{ q = Div(x, t) p = Mul(q, t) c = Less(p, one) y = Where(c, x, one) }");
  for (const double at : {1.0, 2.0}) {
    ASSERT_TRUE(jump.At({F({1}, {at})}, {"x"}).ok());
    const auto back = Got(jump.run->VjpHull(Ones(1), kFloat32Roundoff));
    const auto along = Got(jump.run->JvpHull(Ones(1), kFloat32Roundoff));
    for (const ExactHull& hull : {back[0], along[0]}) {
      EXPECT_EQ(DoublesOf(hull.low)[0], at == 1 ? -kInf : 0);
      EXPECT_EQ(DoublesOf(hull.high)[0], at == 1 ? kInf : 0);
    }
  }
}

// Beyond the border by 2^-11 of a cell, which double may lose beside 2e12: a
// run whose tapes are kept asks double whether the branch is in doubt, a
// greater one quad.
TEST(ExactRunTest, AGreatRunAsksQuadOfItsBranches) {
  RowBackend backend;
  const auto network = Got(backend.EagerBackend::Load(
      ModelOf("g (float[1,1,1,4] x, float[1,1,1,2] a, float[1] b) "
              "=> (float[1,1,1,1] y) { s = Add(a, b) t = Add(s, b) "
              "u = Sub(t, b) g = Sub(u, b) "
              "y = GridSample<padding_mode = \"border\">"
              "(x, g) }"),
      {.exact = true}));
  const auto inputs =
      ValuesOf({F({1, 1, 1, 4}, {1, 2, 4, 8}),
                F({1, 1, 1, 2}, {1 + 0x1p-12 + 0x1p-16, 0.5}), F({1}, {1e12})});
  for (const bool is_great : {false, true}) {
    const auto run =
        Got(RecordedRun::Make(*network, inputs, {{"x", inputs[0]}},
                              is_great ? 1 : Trace::kMostKeptBytes));
    EXPECT_EQ(run->LeastPrecision(),
              is_great ? Precision::kQuad : Precision::kDouble);
    const auto units = Got(run->EvaluateUnits(UnitKind::kHard));
    EXPECT_EQ(std::isfinite(DoublesOf(units[0])[0]), is_great);
    const auto exact = Got(run->Evaluate(Precision::kQuad));
    EXPECT_EQ(DoublesOf(exact[0].value)[0], 8);
  }
}

}  // namespace
}  // namespace assay::reference
