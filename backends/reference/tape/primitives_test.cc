// SPDX-License-Identifier: Apache-2.0
//
// Every primitive's partial derivatives against differences in quad, which know
// nothing of them; and its value in quad and in 256 bits.

#include "backends/reference/tape/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "backends/reference/tape/lifted.h"
#include "backends/reference/tape/mpfr.h"
#include "backends/reference/tape/quad.h"

namespace assay::reference {
namespace {

struct Point {
  Primitive primitive;
  double a;
  double b;
};

std::vector<Point> Points() {
  using enum Primitive;
  std::vector<Point> points;
  for (const Primitive one : {kNegate, kAbs, kExp, kExpm1, kSin, kCos, kTan,
                              kAtan, kSinh, kCosh, kTanh, kAsinh, kErf}) {
    for (const double a : {-2.5, -0.75, -0x1p-10, 0x1p-10, 0.625, 3.0}) {
      points.push_back({one, a, 0});
    }
  }
  for (const Primitive one : {kSqrt, kLog, kLog1p}) {
    for (const double a : {0.25, 0.625, 1.5, 1024.0}) {
      points.push_back({one, a, 0});
    }
  }
  for (const Primitive one : {kAsin, kAcos, kAtanh}) {
    for (const double a : {-0.96875, -0.25, 0x1p-10, 0.5, 0.96875}) {
      points.push_back({one, a, 0});
    }
  }
  for (const double a : {1.25, 1.5, 30.0}) points.push_back({kAcosh, a, 0});
  for (const Primitive two : {kAdd, kSubtract, kMultiply, kDivide}) {
    points.push_back({two, -1.5, 0.625});
    points.push_back({two, 3.25, -7.5});
  }
  points.insert(points.end(), {{kPow, 0.625, 2.5},
                               {kPow, 3.5, -1.25},
                               {kPow, -1.5, 3},
                               {kPow, 1.75, 0},
                               {kFmod, 7.25, 2.5},
                               {kFmod, -7.25, 2.5}});
  return points;
}

// Central differences of the value in quad at steps h and h / 2, extrapolated:
// an error of order h^4, some 1e-23 beside the fifth derivative.
Quad Difference(const Point& point, bool after_a) {
  const auto value = [&](double step) {
    const Quad a = Quad(point.a) + Quad(after_a ? step : 0);
    const Quad b = Quad(point.b) + Quad(after_a ? 0 : step);
    return Apply<Quad>(point.primitive, a, b);
  };
  const auto central = [&](double step) {
    return (value(step) - value(-step)) / Quad(2 * step);
  };
  constexpr double kStep = 0x1p-19;
  return (Quad(4) * central(kStep / 2) - central(kStep)) / Quad(3);
}

double Off(Quad found, Quad wanted) {
  return ToDouble(abs(found - wanted)) /
         std::max(1.0, std::abs(ToDouble(wanted)));
}

TEST(PrimitivesTest, PartialsAreWhatDifferencesInQuadSay) {
  for (const Point& point : Points()) {
    const Quad a(point.a);
    const Quad b(point.b);
    const Quad v = Apply<Quad>(point.primitive, a, b);
    const Partials<Quad> partials = PartialsOf<Quad>(point.primitive, a, b, v);
    const int code = static_cast<int>(point.primitive);
    EXPECT_LE(Off(partials.a, Difference(point, true)), 1e-18)
        << "primitive " << code << " after a at " << point.a << ", " << point.b;
    // The power of a negative base has no derivative after its exponent.
    if (!HasTwoOperands(point.primitive) || point.a < 0) continue;
    EXPECT_LE(Off(partials.b, Difference(point, false)), 1e-18)
        << "primitive " << code << " after b at " << point.a << ", " << point.b;
  }
}

TEST(PrimitivesTest, AllScalarsComputeTheSame) {
  for (const Point& point : Points()) {
    const Mpfr wide =
        Apply<Mpfr>(point.primitive, Mpfr(point.a), Mpfr(point.b));
    const Quad quad =
        Apply<Quad>(point.primitive, Quad(point.a), Quad(point.b));
    const double narrow = Apply<double>(point.primitive, point.a, point.b);
    const Mpfr of_quad =
        Mpfr(ToDouble(quad)) +
        Mpfr(ToDouble(quad - Quad(ToDouble(quad))));  // 106 bits of it
    const double size = std::abs(ToDouble(wide));
    const int code = static_cast<int>(point.primitive);
    EXPECT_LE(std::abs(ToDouble(of_quad - wide)), 0x1p-103 * size) << code;
    EXPECT_LE(std::abs(ToDouble(Mpfr(narrow) - wide)), 0x1p-51 * size) << code;
  }
}

TEST(PrimitivesTest, EveryPrimitiveOfTheTapeIsTried) {
  std::set<Primitive> tried;
  for (const Point& point : Points()) tried.insert(point.primitive);
  using enum Primitive;
  // Steps and what is detached have no derivative; the others are no functions.
  const std::set<Primitive> left_out = {kInput,  kConstant, kFloor,
                                        kCeil,   kRound,    kTrunc,
                                        kDetach, kChoice,   kBlock};
  EXPECT_EQ(tried.size() + left_out.size(),
            static_cast<size_t>(kPrimitiveCount));
}

TEST(PrimitivesTest, StepsHaveNoDerivative) {
  using enum Primitive;
  for (const Primitive step : {kFloor, kCeil, kRound, kTrunc, kDetach}) {
    EXPECT_EQ(PartialsOf<double>(step, 1.25, 0.0, 1.0).a, 0);
  }
}

// The partials of one number do the same by themselves and inside Dual and
// Charged.
TEST(PrimitivesTest, LiftedScalarsFollowThePartials) {
  for (const Point& point : Points()) {
    const double v = Apply<double>(point.primitive, point.a, point.b);
    const auto partials =
        PartialsOf<double>(point.primitive, point.a, point.b, v);
    const auto dual = Dual<double>::Of(
        point.primitive, Dual<double>(point.a, 2), Dual<double>(point.b, 0));
    EXPECT_EQ(dual.value, v);
    EXPECT_DOUBLE_EQ(dual.tangent, 2 * partials.a);
    using Bounded = Charged<Charge::kBound>;
    const auto charged =
        Bounded::Of(point.primitive, Bounded(point.a, 8), Bounded(point.b, 0));
    const double own = Bounded::RoundingsOf(point.primitive) * std::abs(v);
    EXPECT_DOUBLE_EQ(charged.units, own + 8 * std::abs(partials.a));
  }
}

}  // namespace
}  // namespace assay::reference
