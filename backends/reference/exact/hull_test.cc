// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/hull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "backends/reference/scalar/scalar.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

// The hulls of dy/dx along x and back from y, for ties of either kind: both are
// the same, and are joined.
Interval HullAt(double at, double roundoff,
                const std::function<Var(Var)>& function) {
  Interval joined(kUnbounded, -kUnbounded);
  for (const Ties ties : {Ties::kFalse, Ties::kTrue}) {
    Tape tape(size_t{1} << 10, ties);
    TieWithin(roundoff, &tape);
    const Tape::Scope recording(&tape);
    const Var x = tape.Input(at);
    const Var y = function(x);
    const std::vector<Hard> values = HardValues(tape, roundoff);
    std::vector<Interval> adjoints(tape.size());
    adjoints[y.node()] = Interval(1);
    Reverse(tape, values, adjoints);
    const auto direction = [&](uint32_t node, double) {
      return Interval(node == x.node() ? 1 : 0);
    };
    const Interval along = HullsAlong(tape, values, direction)[y.node()];
    const Interval back = adjoints[x.node()];
    EXPECT_EQ(along.low, back.low) << at;
    EXPECT_EQ(along.high, back.high) << at;
    joined = Hull(joined, back);
  }
  return joined;
}

// Kills: a tie of a choice, a selection, an absolute value or a branch that
// goes one way only; a tie that is seen where the numbers are exact.
TEST(HullTest, TiesMayGoEitherWay) {
  const auto relu = [](Var x) { return Max(x, Var(0)); };
  const auto leaky = [](Var x) {
    return Before(x, Var(0)) ? Var(0.125) * x : x;
  };
  const auto bent = [](Var x) {
    return IfBefore(
        x, Var(0), [&] { return Var(2) * x; }, [&] { return -x; });
  };
  // A third of x, three times: x, and a rounding or two.
  const auto of_rounded = [](const std::function<Var(Var)>& function) {
    return [=](Var x) { return function(x / Var(3) * Var(3) - Var(1)); };
  };
  struct Row {
    const char* what;
    std::function<Var(Var)> function;
    double at, low, high;
  };
  const Row rows[] = {
      {"relu at 0", relu, 0, 0, 1},
      {"relu beside 0", relu, 1e-30, 1, 1},
      {"relu of a rounded 0", of_rounded(relu), 1, 0, 1},
      {"relu a rounding from 0", of_rounded(relu), 1 + 0x1p-25, 0, 1},
      {"relu many from 0", of_rounded(relu), 1 + 0x1p-20, 1, 1},
      {"x between 0 and x", [](Var x) { return Min(Max(x, Var(0)), x); }, 2, 1,
       1},
      {"0 between x and 0", [](Var x) { return Min(Max(x, Var(0)), Var(0)); },
       -2, 0, 0},
      {"leaky at 0", leaky, 0, 0.125, 1},
      {"leaky beside 0", leaky, -1e-30, 0.125, 0.125},
      {"leaky of a rounded 0", of_rounded(leaky), 1 - 0x1p-25, 0.125, 1},
      {"bent at 0", bent, 0, -1, 2},
      {"abs at 0", [](Var x) { return abs(x); }, 0, -1, 1},
      {"abs below 0", [](Var x) { return abs(x); }, -1e-30, -1, -1},
      {"abs of a rounded 0", of_rounded([](Var x) { return abs(x); }),
       1 + 0x1p-25, -1, 1},
      {"floor of a rounded 1", [](Var x) { return floor(x / Var(3) * Var(3)); },
       1, -kUnbounded, kUnbounded},
      {"floor of 1", [](Var x) { return floor(x); }, 1, 0, 0},
  };
  for (const Row& row : rows) {
    const Interval found = HullAt(row.at, kFloat32Roundoff, row.function);
    // Infinities are equal or not.
    EXPECT_TRUE(found.low == row.low || std::abs(found.low - row.low) < 1e-15)
        << row.what << ": " << found.low;
    EXPECT_TRUE(found.high == row.high ||
                std::abs(found.high - row.high) < 1e-15)
        << row.what << ": " << found.high;
  }
}

// Kills: a tie that is judged by another roundoff than the one given.
TEST(HullTest, TheRoundoffSaysWhatIsTied) {
  const auto relu = [](Var x) {
    return Max(x / Var(3) * Var(3) - Var(1), Var(0));
  };
  EXPECT_EQ(HullAt(1 + 0x1p-25, kFloat32Roundoff, relu).low, 0);
  EXPECT_NEAR(HullAt(1 + 0x1p-25, 0x1p-53, relu).low, 1, 1e-15);
}

TEST(HullTest, ATieOfAChoiceMayGoToAny) {
  Tape tape;
  const Tape::Scope recording(&tape);
  std::vector<Var> x = {tape.Input(2), tape.Input(5), tape.Input(5)};
  Choose<Var> greatest;
  for (size_t i = 0; i < 3; ++i) greatest.Offer(x[i], static_cast<int64_t>(i));
  const Var y = Var(-3) * greatest.best();
  EXPECT_EQ(greatest.index(), 1);  // the first of equals
  std::vector<Interval> adjoints(tape.size());
  adjoints[y.node()] = Interval(1);
  Reverse(tape, HardValues(tape, kFloat32Roundoff), adjoints);
  struct Row {
    double low, high;
  };
  const std::vector<Row> wanted = {{0, 0}, {-3, 0}, {-3, 0}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(adjoints[x[i].node()].low, wanted[i].low) << i;
    EXPECT_EQ(adjoints[x[i].node()].high, wanted[i].high) << i;
  }
}

// Kills: an end that stands for another way than the one that was taken, and is
// held to the errors of the latter.
TEST(HullTest, AnEndIsOffByTheRoundingsOnItsWay) {
  const IntervalsRounded rounded(kFloat32Roundoff);
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var x = tape.Input(0);
  // A slope of a third, which is rounded, and four products.
  Var y = Max(x, Var(0)) * (Var(1) / Var(3));
  for (int i = 0; i < 4; ++i) y = y * (Var(1) / Var(3));
  std::vector<Interval> adjoints(tape.size());
  adjoints[y.node()] = Interval(1);
  Reverse(tape, HardValues(tape, kFloat32Roundoff), adjoints);
  const Interval& back = adjoints[x.node()];
  EXPECT_EQ(back.low, 0);
  EXPECT_NEAR(back.high, std::pow(3, -5), 1e-15);
  EXPECT_GE(back.error, 5 * kFloat32Roundoff * back.high);
  EXPECT_LE(back.error, 12 * kFloat32Roundoff * back.high);
}

TEST(HullTest, OnlyAHullWithAWidthIsWidened) {
  const auto of = [](const std::vector<double>& numbers) {
    return Tensor::Of<double>(Shape{std::ssize(numbers)}, numbers).value();
  };
  const auto widened = WidenedByError(
      {{{of({0, 2, 0}), of({1, 2, 3})}}, {{0.25, 0.25, kUnbounded}}});
  EXPECT_THAT(widened[0].low.elements<double>(), ElementsAre(-0.25, 2, 0));
  EXPECT_THAT(widened[0].high.elements<double>(), ElementsAre(1.25, 2, 3));
}

// Kills: a comparison with NaN, which is false both ways, that is taken for a
// decision: of Relu the derivative there is open.
TEST(HullTest, NanIsTiedWithAll) {
  const double nan = std::nan("");
  const auto relu = [](Var x) { return Max(x, Var(0)); };
  EXPECT_EQ(HullAt(nan, kFloat32Roundoff, relu).low, 0);
  EXPECT_EQ(HullAt(nan, kFloat32Roundoff, relu).high, 1);
  const auto magnitude = [](Var x) { return abs(x); };
  EXPECT_EQ(HullAt(nan, kFloat32Roundoff, magnitude).low, -1);
  EXPECT_EQ(HullAt(nan, kFloat32Roundoff, magnitude).high, 1);
}

// Kills: a comparison in doubt, of which the other side is not known, that
// leaves the hull as it is; one of exact numbers that does not.
TEST(HullTest, AJumpWithinARoundingIsSeen) {
  for (const double at : {1.0, 1 + 0x1p-20}) {
    Tape tape;
    const Tape::Scope recording(&tape);
    const Var x = tape.Input(at);
    static_cast<void>(Less(x / Var(3) * Var(3), Var(1)));
    EXPECT_EQ(MayJump(tape, HardValues(tape, kFloat32Roundoff)), at == 1);
  }
  Tape tape;
  const Tape::Scope recording(&tape);
  static_cast<void>(Less(tape.Input(1), Var(1)));
  EXPECT_FALSE(MayJump(tape, HardValues(tape, kFloat32Roundoff)));
}

}  // namespace
}  // namespace assay::reference
