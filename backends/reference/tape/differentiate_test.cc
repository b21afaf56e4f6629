// SPDX-License-Identifier: Apache-2.0
//
// Derivatives on a tape: those that are themselves on one, and those that a
// list of linear steps gives again and again.

#include "backends/reference/tape/differentiate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/tape/linear.h"
#include "backends/reference/tape/passes.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using Vars = std::vector<Var>;
using VarFunction = std::function<Var(const Vars& x)>;

assay::Value ValueOf(const Vars& vars) {
  Tensor tensor =
      *Tensor::Allocate(kDTypeOf<Var>, {static_cast<int64_t>(vars.size())});
  std::ranges::copy(vars, tensor.mutable_elements<Var>().begin());
  return assay::Value(std::move(tensor));
}

Vars VarsOf(const assay::Value& value) {
  const auto elements = value.tensor()->elements<Var>();
  return {elements.begin(), elements.end()};
}

// The gradient of f at x, on the current tape.
Vars GradientAt(const VarFunction& f, const Vars& x) {
  const auto call = [&](std::span<const assay::Value> inputs)
      -> Result<std::vector<assay::Value>> {
    return std::vector<assay::Value>{ValueOf({f(VarsOf(inputs[0]))})};
  };
  const std::vector<assay::Value> inputs = {ValueOf(x)};
  const auto gradients = DifferentiateOnTape(call, inputs, 1);
  EXPECT_TRUE(gradients.ok()) << gradients.status().message();
  return gradients.ok() ? VarsOf((*gradients)[0]) : Vars(x.size());
}

// A tape with the gradient of f at these inputs.
struct Recorded {
  Recorded(const VarFunction& f, const std::vector<double>& at) {
    const Tape::Scope recording(&tape);
    Vars x;
    for (const double number : at) x.push_back(tape.Input(number));
    gradient = GradientAt(f, x);
  }
  double Slope(size_t i) const { return gradient[i].value(); }
  /// In quad.
  Quad Exact(size_t i) const {
    return gradient[i].node() == 0 ? Quad(gradient[i].value())
                                   : Replay<Quad>(tape)[gradient[i].node()];
  }
  bool IsKnown(size_t i) const {
    const auto numbers = Replay<Charged<Charge::kBound, Mpfr>>(tape);
    return std::isfinite(numbers[gradient[i].node()].units);
  }
  size_t Jumps() const {
    return static_cast<size_t>(std::ranges::count_if(
        tape.branches(), [](const Comparison& one) { return one.is_jump; }));
  }

  Tape tape;
  Vars gradient;
};

TEST(DifferentiateTest, StepsAreTheDerivativesOfEveryPrimitive) {
  for (int i = 0; i < kPrimitiveCount; ++i) {
    const auto primitive = static_cast<Primitive>(i);
    if (!HasOperands(primitive) || primitive == Primitive::kDetach) continue;
    const double at_a = primitive == Primitive::kAcosh ? 1.6 : 0.6;
    const Recorded made(
        [&](const Vars& x) { return Apply<Var>(primitive, x[0], x[1]); },
        {at_a, 0.25});
    const Quad a(at_a);
    const Quad b(0.25);
    const Partials<Quad> wanted =
        PartialsOf<Quad>(primitive, a, b, Apply<Quad>(primitive, a, b));
    EXPECT_LE(std::abs(ToDouble(made.Exact(0) - wanted.a)), 1e-31) << i;
    EXPECT_LE(std::abs(ToDouble(made.Exact(1) - wanted.b)), 1e-31) << i;
  }
}

TEST(DifferentiateTest, ADerivativeHasDerivatives) {
  // (x^3)'' = 6 x, (sin x y)'' by x and then y: cos - x y sin.
  const Recorded cube(
      [](const Vars& x) {
        return GradientAt([](const Vars& v) { return v[0] * v[0] * v[0]; },
                          x)[0];
      },
      {1.5});
  EXPECT_EQ(cube.Slope(0), 9);
  const Recorded sine(
      [](const Vars& x) {
        return GradientAt([](const Vars& v) { return sin(v[0] * v[1]); }, x)[0];
      },
      {0.5, 0.75});
  const double p = 0.375;
  EXPECT_NEAR(sine.Slope(1), std::cos(p) - p * std::sin(p), 1e-15);
}

TEST(DifferentiateTest, TargetsAreApartFromWhatElseIsComputedFromThem) {
  // The captured x has no share.
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var x = tape.Input(3);
  const Var slope = GradientAt([&](const Vars& v) { return v[0] * x; }, {x})[0];
  EXPECT_EQ(slope.value(), 3);
  const Var of_slope =
      GradientAt([&](const Vars& v) { return v[0] * slope; }, {x})[0];
  EXPECT_EQ(of_slope.value(), 3);
}

TEST(DifferentiateTest, WhatDoesNotDependHasNoSlope) {
  const Recorded constant([](const Vars&) { return Var(2); }, {1});
  EXPECT_EQ(constant.Slope(0), 0);
  const Recorded detached([](const Vars& x) { return Detach(x[0]); }, {1});
  EXPECT_EQ(detached.Slope(0), 0);
  const Recorded itself([](const Vars& x) { return x[1]; }, {1, 2});
  EXPECT_EQ(itself.Slope(0), 0);
  EXPECT_EQ(itself.Slope(1), 1);
}

TEST(DifferentiateTest, DecisionsGoTheWayOfThePartAndAreJumps) {
  const Recorded most(
      [](const Vars& x) { return Max(Max(x[0] * x[0], x[1]), Var(0)); },
      {3, 2});
  EXPECT_EQ(most.Slope(0), 6);
  EXPECT_EQ(most.Slope(1), 0);
  EXPECT_EQ(most.Jumps(), 2U);
  const Recorded ramp(
      [](const Vars& x) {
        return IfBefore(
            x[0], Var(0), [&] { return x[0] * Var(0.5); },
            [&] { return x[0] * Var(2); });
      },
      {-1});
  EXPECT_EQ(ramp.Slope(0), 0.5);
  EXPECT_EQ(ramp.Jumps(), 1U);
  const Recorded size([](const Vars& x) { return abs(x[0]); }, {-0.25});
  EXPECT_EQ(size.Slope(0), -1);
  EXPECT_GE(size.Jumps(), 1U);
}

// At a tie of two ways each has a share that is not known; what is equal in
// both is.
TEST(DifferentiateTest, AtATieADerivativeIsUnknown) {
  const std::vector<VarFunction> tied = {
      [](const Vars& x) { return abs(x[0]); },
      [](const Vars& x) { return Max(x[0], Var(0)); },
      [](const Vars& x) { return Max(Var(0), x[0]); },
      [](const Vars& x) {
        return IfBefore(
            x[0], Var(0), [&] { return x[0] * Var(0.5); },
            [&] { return x[0] * Var(2); });
      }};
  for (const VarFunction& f : tied) EXPECT_FALSE(Recorded(f, {0}).IsKnown(0));
  EXPECT_TRUE(Recorded(tied[1], {-1}).IsKnown(0));
  const Recorded twice([](const Vars& x) { return Max(x[0], x[0]); }, {0});
  EXPECT_TRUE(twice.IsKnown(0));
  EXPECT_EQ(twice.Slope(0), 1);
  // Nothing is left of the maximum's share.
  const Recorded nothing([](const Vars& x) { return Max(x[0], Var(0)) * x[1]; },
                         {0, 0});
  EXPECT_TRUE(nothing.IsKnown(0));
  EXPECT_EQ(nothing.Slope(0), 0);
}

TEST(DifferentiateTest, AFixedExponentAsksForNoSign) {
  const Recorded square([](const Vars& x) { return pow(x[0], Var(2)); }, {-3});
  EXPECT_EQ(square.Slope(0), -6);
  EXPECT_EQ(square.Jumps(), 0U);
}

TEST(DifferentiateTest, NothingFlowsAlongAnInfiniteDerivative) {
  // x sqrt(x) at 0: 0 times infinity.
  const Recorded root([](const Vars& x) { return x[0] * sqrt(x[0]); }, {0});
  EXPECT_EQ(root.Slope(0), 0);
  EXPECT_EQ(root.Jumps(), 1U);
  const Recorded infinite([](const Vars& x) { return sqrt(x[0]); }, {0});
  EXPECT_EQ(infinite.Slope(0), kInf);
}

// The sum of s a b, of 2 x 3 and 3 x 2, a given or on the tape.
TEST(DifferentiateTest, ProductsAreBlocks) {
  const std::vector<double> numbers = {1, -2, 3, 4, 5, -6};
  const VarFunction sum_of_products = [&](const Vars& b) {
    Product product = DenseProduct(2, 3, 2);
    product.scale = 0.5;
    Vars y(4);
    Vars a;
    for (const double x : numbers) a.emplace_back(x, 0, kGivenSource);
    Accumulate<Var>(nullptr, product, a.data(), b.data(), y.data());
    return y[0] * y[0] + y[3];
  };
  // y0 = (b0 - 2 b2 + 3 b4) / 2 = 1, y3 = (4 b1 + 5 b3 - 6 b5) / 2.
  const Recorded by_b(sum_of_products, {4, 1, 1, 1, 0, 1});
  const std::vector<double> wanted = {1, 2, -2, 2.5, 3, -3};
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(by_b.Slope(i), wanted[i]) << i;
  }
  EXPECT_EQ(by_b.tape.blocks().size(), 2U);
  // x^2, as a product of x with itself; twice on, since it is one node.
  const Recorded square(
      [](const Vars& x) {
        Vars y(1);
        Accumulate<Var>(nullptr, DenseProduct(1, 1, 1), x.data(), x.data(),
                        y.data());
        return y[0];
      },
      {7});
  EXPECT_EQ(square.Slope(0), 14);
}

using BoundNumber = Charged<Charge::kBound>;

// Each number is off by a rounding.
BoundNumber RoundedOnce(uint32_t, double value) {
  return BoundNumber::Rounded(value, 1);
}

// A tape of f at these inputs, and the adjoints of its nodes by both passes.
struct PassedTape {
  PassedTape(const VarFunction& f, const std::vector<double>& at) {
    const auto tape = std::make_shared<Tape>();
    Var y;
    {
      const Tape::Scope recording(tape.get());
      Vars x;
      for (const double number : at) x.push_back(tape->Input(number));
      y = f(x);
    }
    const std::vector<BoundNumber> values =
        Replay<BoundNumber>(*tape, RoundedOnce);
    plain = listed = std::vector<BoundNumber>(tape->size());
    plain[y.node()] = listed[y.node()] = BoundNumber(1);
    Reverse<BoundNumber>(*tape, values, plain, RoundedOnce);
    const Linear<BoundNumber> linear(tape, values, RoundedOnce);
    linear.Reverse(RoundedOnce, listed);
    std::vector<BoundNumber> doubled(tape->size());
    doubled[y.node()] = BoundNumber(2);
    linear.Reverse(RoundedOnce, doubled);
    twice = std::move(doubled);
  }

  std::vector<BoundNumber> plain, listed, twice;
};

void ExpectSame(const PassedTape& passed, size_t inputs) {
  for (size_t node = 1; node <= inputs; ++node) {
    const BoundNumber& plain = passed.plain[node];
    const BoundNumber& listed = passed.listed[node];
    EXPECT_DOUBLE_EQ(listed.value, plain.value) << node;
    if (std::isinf(plain.units)) {
      EXPECT_TRUE(std::isinf(listed.units)) << node;
    } else {
      EXPECT_NEAR(listed.units, plain.units, 0.1 * plain.units) << node;
    }
    EXPECT_DOUBLE_EQ(passed.twice[node].value, 2 * plain.value) << node;
  }
}

TEST(LinearTest, FunctionsAreAsInReverse) {
  ExpectSame(PassedTape(
                 [](const Vars& x) {
                   return exp(x[0] * x[1]) / sqrt(x[2]) - pow(x[1], Var(3)) +
                          x[0];
                 },
                 {0.3, -0.7, 1.9}),
             3);
}

TEST(LinearTest, DecisionsAreAsInReverse) {
  const VarFunction most = [](const Vars& x) {
    const Var ramp = IfBefore(
        x[2], Var(0), [&] { return x[2] * Var(0.1); }, [&] { return x[2]; });
    return Max(x[0], x[1]) * Var(3) + ramp;
  };
  ExpectSame(PassedTape(most, {1, 2, -3}), 3);
  // Nearer than their roundings: unknown, of all that might have been taken.
  const PassedTape tied(most, {1, 1 + 0x1p-52, 0x1p-80});
  ExpectSame(tied, 3);
  EXPECT_TRUE(std::isinf(tied.listed[1].units));
  EXPECT_TRUE(std::isinf(tied.listed[2].units));
}

TEST(LinearTest, NothingFlowsAlongAnInfiniteDerivative) {
  const PassedTape root(
      [](const Vars& x) { return sqrt(x[0] - x[0]) * Var(0); }, {0.5});
  EXPECT_EQ(root.listed[1].value, 0);
  EXPECT_EQ(root.listed[1].units, 0);
}

// The sum of the elements of a b c, of 2 x n, n x 2 and 2 x 2: the first
// product is listed, or too great for it.
TEST(LinearTest, ProductsSmallAndGreatAreAsInReverse) {
  for (const int64_t n : {3, 200}) {
    const auto sum_of_product = [n](const Vars& x) {
      Product first = DenseProduct(2, n, 2);
      first.scale = 0.75;
      Vars y(4), z(4);
      Accumulate<Var>(nullptr, first, x.data(), x.data() + 2 * n, y.data());
      Accumulate<Var>(nullptr, DenseProduct(2, 2, 2), y.data(),
                      x.data() + 4 * n, z.data());
      return z[0] * z[0] + z[1] + z[2] + z[3];
    };
    std::vector<double> at;
    for (int64_t i = 0; i < 4 * n + 4; ++i) {
      at.push_back(std::sin(static_cast<double>(i)));
    }
    ExpectSame(PassedTape(sum_of_product, at), at.size());
  }
}

}  // namespace
}  // namespace assay::reference
