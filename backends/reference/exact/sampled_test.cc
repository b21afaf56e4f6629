// SPDX-License-Identifier: Apache-2.0
//
// Replays of a tape that say more than its bounds: errors with their signs, and
// the hulls of all derivatives that ties permit.

#include "backends/reference/exact/sampled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "backends/reference/exact/hull.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

// A layer of a network: what comes after x.
using Layer = std::function<std::vector<Var>(const std::vector<Var>& x)>;

class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}
  double operator()() {
    return static_cast<double>(engine_() >> 11U) * 0x1p-52 - 1;
  }

 private:
  std::mt19937_64 engine_;
};

// A product with a matrix of random numbers, which keeps the size of x.
std::vector<Var> Mixed(const std::vector<Var>& x, Draw& draw) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<Var> matrix;
  for (int64_t i = 0; i < n * n; ++i) {
    const double gain = std::sqrt(3.0 / static_cast<double>(n));
    matrix.push_back(Tape::Current()->Input(draw() * gain));
  }
  std::vector<Var> y(x.size(), Var(0));
  Accumulate<Var>(nullptr, DenseProduct(n, n, 1), matrix.data(), x.data(),
                  y.data());
  return y;
}

Layer LayerOf(const std::function<Var(Var)>& function, Draw& draw) {
  return [&draw, function](const std::vector<Var>& x) {
    std::vector<Var> y = Mixed(x, draw);
    for (Var& one : y) one = function(one);
    return y;
  };
}

// How far off each number of the tape really is.
std::vector<double> Errors(const Tape& tape,
                           const std::vector<Bounded<double>>& numbers) {
  const std::vector<Mpfr> truth = Replay<Mpfr>(tape);
  std::vector<double> errors;
  for (size_t i = 0; i < truth.size(); ++i) {
    errors.push_back(
        std::abs(ToDouble(Mpfr(truth[i] - Mpfr(numbers[i].value)))));
  }
  return errors;
}

// Kills: errors that are added up without their signs; those that are left out;
// a bound above the one that was there.
TEST(SampledTest, ADeepNetworkIsKnownWell) {
  for (const bool kinked : {false, true}) {
    Draw draw(7);
    const Layer layer = LayerOf(
        [=](Var x) {
          return kinked ? IfBefore(
                              x, Var(0), [&] { return Var(0.5) * x; },
                              [&] { return x; })
                        : tanh(x);
        },
        draw);
    Tape tape;
    const Tape::Scope recording(&tape);
    std::vector<Var> x;
    for (int i = 0; i < 16; ++i) x.push_back(tape.Input(draw()));
    for (int i = 0; i < 60; ++i) x = layer(x);
    const auto charged = Replay<Bounded<double>>(tape);
    const auto sampled = Sampled<double>(tape);
    const std::vector<double> errors = Errors(tape, charged);
    for (size_t node = 0; node < tape.size(); ++node) {
      EXPECT_LE(errors[node], sampled[node].Error()) << node;
      EXPECT_LE(sampled[node].Error(), 1.001 * charged[node].Error()) << node;
      EXPECT_EQ(sampled[node].value, charged[node].value) << node;
    }
    const uint32_t last = x[0].node();
    const double size = std::abs(x[0].value());
    EXPECT_GT(charged[last].Error(), size) << "nothing is to be gained";
    EXPECT_LT(sampled[last].Error(), 0x1p-27 * size);
    const auto quad = Sampled<Quad>(tape);
    EXPECT_LT(quad[last].Error(), 0x1p-80 * size);
  }
}

// Kills: a draw that is too small; a function whose own rounding, or whose
// operand's error, is left out.
TEST(SampledTest, EveryErrorIsWithinItsBound) {
  const std::vector<std::function<Var(Var, Var)>> functions = {
      [](Var a, Var b) { return a + b; },
      [](Var a, Var b) { return a - b; },
      [](Var a, Var b) { return a * b; },
      [](Var a, Var b) { return a / (b * b + Var(0.5)); },
      [](Var a, Var b) { return pow(a * a + Var(0.1), b); },
      [](Var a, Var) { return exp(a); },
      [](Var a, Var) { return log(a * a + Var(0.01)); },
      [](Var a, Var) { return sin(Var(3) * a); },
      [](Var a, Var) { return sqrt(a * a + Var(0.01)); },
      [](Var a, Var) { return tanh(a); },
      [](Var a, Var b) { return Max(a, b); },
      [](Var a, Var b) { return Min(a, b); },
      [](Var a, Var) { return abs(a); },
      [](Var a, Var) { return Detach(a); },
      [](Var a, Var b) {
        return IfBefore(
            a, b, [&] { return Var(2) * a - b; }, [&] { return a; });
      },
  };
  int tighter = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    Tape tape;
    const Tape::Scope recording(&tape);
    std::vector<Var> all = {tape.Input(draw()), tape.Input(draw())};
    for (int i = 0; i < 40; ++i) {
      const auto any = [&](size_t count) {
        return std::min(
            static_cast<size_t>((draw() + 1) / 2 * static_cast<double>(count)),
            count - 1);
      };
      const Var y =
          functions[any(functions.size())](all[any(all.size())], all.back());
      if (std::abs(y.value()) < 1e3) all.push_back(y);
    }
    const auto charged = Replay<Bounded<double>>(tape);
    const auto sampled = Sampled<double>(tape);
    const std::vector<double> errors = Errors(tape, charged);
    for (size_t node = 0; node < tape.size(); ++node) {
      EXPECT_LE(errors[node], sampled[node].Error()) << seed << " " << node;
      tighter += sampled[node].units < charged[node].units ? 1 : 0;
    }
  }
  EXPECT_GT(tighter, 0);
}

// Kills: the signed errors of one side of a kink, which cancel with that side's
// and not with the other's, where rounding decides the side.
TEST(SampledTest, NothingCancelsAcrossAKinkInDoubt) {
  int decided_wrongly = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    Tape tape;
    const Tape::Scope recording(&tape);
    const Var a = tape.Input(draw());
    const Var b = tape.Input(draw());
    const Var c = tape.Input(draw());
    const Var x = a * b + c;
    const Var y = b * a + c * Var(7) - c * Var(6);  // x, rounded otherwise
    const Var d = x - y;
    const Var bent = IfBefore(
        d, Var(0), [&] { return Var(0.5) * d; }, [&] { return d; });
    const std::vector<Var> kinks = {
        Max(x, y) - x, Max(x, y) - y, Min(x, y) - x, Min(x, y) - y,
        abs(d) - d,    abs(d) + d,    bent - d,      bent - Var(0.5) * d};
    const auto charged = Replay<Bounded<double>>(tape);
    const auto sampled = Sampled<double>(tape);
    const std::vector<double> errors = Errors(tape, charged);
    for (size_t k = 0; k < kinks.size(); ++k) {
      const uint32_t node = kinks[k].node();
      EXPECT_LE(errors[node], sampled[node].Error()) << seed << " " << k;
    }
    decided_wrongly += d.value() != 0 ? 1 : 0;
  }
  EXPECT_GT(decided_wrongly, 20);
}

// Kills: roundings of sums that round nothing, which leave equal ones in doubt;
// an error of one factor of a block that is taken for none.
TEST(SampledTest, ABlockRoundsWhatItsSumsRound) {
  Tape tape;
  const Tape::Scope recording(&tape);
  std::vector<Var> a, b;
  for (int i = 1; i <= 6; ++i) a.push_back(tape.Input(i));
  for (int i = 1; i <= 3; ++i) b.push_back(tape.Input(2 * i));
  const auto product = [&](const std::vector<Var>& left) {
    std::vector<Var> y(2, Var(0));
    Accumulate<Var>(nullptr, DenseProduct(2, 3, 1), left.data(), b.data(),
                    y.data());
    return y;
  };
  const std::vector<Var> exact = product(a);
  a[4] = a[4] / Var(3);
  const std::vector<Var> rounded = product(a);
  const auto sampled = Sampled<double>(tape);
  const auto charged = Replay<Bounded<double>>(tape);
  for (const Var& y : exact) EXPECT_EQ(sampled[y.node()].units, 0);
  const uint32_t off = rounded[1].node();
  EXPECT_GE(sampled[off].Error(), 4 * 0x1p-53 * 5 / 3);
  EXPECT_LE(sampled[off].Error(), 2 * charged[off].Error());
}

// Kills: a step or a pole that is nearer than an error, and is not seen.
TEST(SampledTest, WhatIsUnknownStaysSo) {
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var third = tape.Input(1) / Var(3);
  const Var one = third * Var(3);
  const Var step = floor(one);
  const Var pole = Var(1) / (one - Var(1));
  const Var after = step + Var(1);
  const auto charged = Replay<Bounded<double>>(tape);
  const auto sampled = Sampled<double>(tape);
  for (const Var& unknown : {step, pole, after}) {
    EXPECT_EQ(sampled[unknown.node()].units, Bounded<double>::kUnknown);
  }
  EXPECT_LT(sampled[one.node()].Error(), 1e-15);
}

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
