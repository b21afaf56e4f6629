// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/sampled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/scalar/scalar.h"

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

}  // namespace
}  // namespace assay::reference
