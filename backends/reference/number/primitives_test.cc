// SPDX-License-Identifier: Apache-2.0
//
// Every primitive's partial derivatives against differences in quad, which know
// nothing of them; its value in quad and in 256 bits; and what is charged for
// it.

#include "backends/reference/number/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "backends/reference/dense/product_fixture.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/number/mpfr.h"
#include "backends/reference/number/quad.h"
#include "framework/testing/support/tensors_fixture.h"

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
  for (const Primitive one :
       {kNegate, kAbs, kExp, kExpm1, kSin, kCos, kTan, kAtan, kSinh, kCosh,
        kTanh, kAsinh, kErf, kErfc}) {
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
  const std::set<Primitive> left_out = {kInput,  kConstant, kFloor,  kCeil,
                                        kRound,  kTrunc,    kDetach, kChoice,
                                        kSelect, kBlock};
  EXPECT_EQ(tried.size() + left_out.size(),
            static_cast<size_t>(kPrimitiveCount));
}

TEST(PrimitivesTest, StepsHaveNoDerivative) {
  using enum Primitive;
  for (const Primitive step : {kFloor, kCeil, kRound, kTrunc, kDetach}) {
    EXPECT_EQ(PartialsOf<double>(step, 1.25, 0.0, 1.0).a, 0);
  }
}

Mpfr Exactly(Quad x) {
  const double head = ToDouble(x);
  const Quad rest = x - Quad(head);
  const double tail = ToDouble(rest);
  return Mpfr(head) + Mpfr(tail) + Mpfr(ToDouble(rest - Quad(tail)));
}

// Numbers 2^low to 2^high, of both signs if wanted, less or more an offset.
struct ExponentRange {
  Primitive primitive;
  double low, high;
  bool both_signs = true;
  double offset = 0;
};

std::vector<ExponentRange> Ranges() {
  using enum Primitive;
  std::vector<ExponentRange> ranges = {{kSqrt, -1022, 1023, false},
                                       {kLog, -1022, 1023, false},
                                       {kLog, -40, -1, true, 1},
                                       {kLog1p, -60, -1},
                                       {kLog1p, -1, 1023, false},
                                       {kExp, -60, 9.4},
                                       {kExpm1, -60, 9.4},
                                       {kAsin, -40, 0},
                                       {kAsin, -40, -1, false, -1},
                                       {kAcos, -40, 0},
                                       {kAcos, -40, -1, false, -1},
                                       {kAtanh, -40, -0.01},
                                       {kAcosh, -40, 0, false, 1},
                                       {kAcosh, 0.1, 1023, false},
                                       {kErf, -60, 2.6},
                                       {kErfc, -60, 4.7, false},
                                       {kErfc, -60, 2, true},
                                       {kAtan, -60, 200},
                                       {kSinh, -60, 9.4},
                                       {kCosh, -60, 9.4},
                                       {kTanh, -60, 6},
                                       {kAsinh, -60, 1023}};
  for (const Primitive one : {kSin, kCos, kTan}) {
    ranges.push_back({one, -60, 6});
    ranges.push_back({one, 0, 1023});
  }
  return ranges;
}

/// The error of a primitive in roundings: units of its value and the roundoff.
double RoundingsOff(const Mpfr& found, const Mpfr& wide, double roundoff) {
  return std::abs(ToDouble((found - wide) / wide)) / roundoff;
}

// The bound of the oracle rests on it. Where this fails, a C library has a
// function that is less exact than those that the constants were made for.
TEST(PrimitivesTest, NoFunctionIsOffByMoreRoundingsThanItIsCharged) {
  std::mt19937_64 engine(7);
  std::vector<Point> points;
  for (const ExponentRange& range : Ranges()) {
    std::uniform_real_distribution<double> exponent(range.low, range.high);
    for (int i = 0; i < 1000; ++i) {
      const double size = std::exp2(exponent(engine));
      const bool negative = range.both_signs && engine() % 2 == 0;
      points.push_back(
          {range.primitive, range.offset + (negative ? -size : size), 0});
    }
  }
  std::uniform_real_distribution<double> digits(-1, 1);
  for (int i = 0; i < 3000; ++i) {
    const double base = std::exp2(8 * digits(engine));
    const double power = 60 * digits(engine);
    points.push_back({Primitive::kPow, base, power});
  }
  // Where glibc 2.36 reduces an argument by too few bits.
  for (const Primitive one : {Primitive::kCos, Primitive::kTan}) {
    points.push_back({one, std::ldexp(6381956970095103.0, 797), 0});
  }
  for (const Point& point : points) {
    const double narrow = Apply<double>(point.primitive, point.a, point.b);
    if (!(std::abs(narrow) >= 0x1p-1000) || !std::isfinite(narrow)) continue;
    const Mpfr wide =
        Apply<Mpfr>(point.primitive, Mpfr(point.a), Mpfr(point.b));
    const Quad quad =
        Apply<Quad>(point.primitive, Quad(point.a), Quad(point.b));
    const double charged = RoundingsOf(point.primitive, Charge::kBound);
    const int code = static_cast<int>(point.primitive);
    EXPECT_LE(RoundingsOff(Mpfr(narrow), wide, 0x1p-53), charged)
        << "double, primitive " << code << " at " << point.a << ", " << point.b;
    EXPECT_LE(RoundingsOff(Exactly(quad), wide, 0x1p-113), charged)
        << "quad, primitive " << code << " at " << point.a << ", " << point.b;
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
    const Bounded a(point.a, 8 / Bounded::kUnit);
    const auto charged = Bounded::Of(point.primitive, a, Bounded(point.b, 0));
    const double own =
        RoundingsOf(point.primitive, Charge::kBound) * std::abs(v);
    const double wanted = own + 8 * std::abs(partials.a);
    EXPECT_NEAR(charged.Roundings(), wanted, 1e-12 * wanted);
  }
}

// Kills: a tangent that flows through what is detached.
TEST(PrimitivesTest, NoTangentFlowsThroughWhatIsDetached) {
  using D = Dual<double>;
  const D found = Apply<D>(Primitive::kDetach, D(3, 2), D(0));
  EXPECT_EQ(found.value, 3);
  EXPECT_EQ(found.tangent, 0);
}

template <Charge kCharge>
std::vector<Charged<kCharge>> ChargedNumbers() {
  std::vector<Charged<kCharge>> numbers;
  for (const double size : std::vector<double>{
           0, 1, 0.1, 3, 1e17, 1e308, 1e-160, 1e-310, 0x1p-500, kInf, kNan}) {
    for (const double value : {size, -size}) {
      for (const double units :
           std::vector<double>{0, 0.5, 1e-320, 1e308, kInf}) {
        numbers.emplace_back(value, units);
      }
    }
  }
  return numbers;
}

template <Charge kCharge>
void ExpectAsOf() {
  using C = Charged<kCharge>;
  const auto expect = [](Primitive primitive, const C& a, const C& b,
                         const C& found) {
    const C wanted = C::Of(primitive, a, b);
    EXPECT_TRUE(IsSame(found.value, wanted.value)) << a.value << " " << b.value;
    EXPECT_TRUE(IsSame(found.units, wanted.units))
        << a.value << " and " << b.value << " with " << a.units << " and "
        << b.units << ": " << found.units << ", wanted " << wanted.units;
  };
  for (const C& a : ChargedNumbers<kCharge>()) {
    for (const C& b : ChargedNumbers<kCharge>()) {
      expect(Primitive::kAdd, a, b, a + b);
      expect(Primitive::kMultiply, a, b, a * b);
    }
  }
}

// Kills: a short way that charges otherwise.
TEST(Charged, SumsAndProductsAreChargedAsEveryOperationIs) {
  ExpectAsOf<Charge::kCondition>();
  ExpectAsOf<Charge::kHard>();
  ExpectAsOf<Charge::kBound>();
}

// Kills: units in which a position and an offset are added for nothing.
TEST(Charged, OfASumARoundingIsCountedThatNoNumberOfItHas) {
  using C = Charged<Charge::kCondition>;
  const auto roundings = [](double a, double of_a, double b, double of_b) {
    const C x = C::Rounded(a, of_a);
    const C y = C::Rounded(b, of_b);
    const C sum = x + y;
    EXPECT_EQ(C::Of(Primitive::kSubtract, x, C::Rounded(-b, of_b)).units,
              sum.units);
    return sum.Roundings();
  };
  EXPECT_EQ(roundings(0.5, 1, 4, 0), 0.5 + 4.5);
  EXPECT_EQ(roundings(4, 0, 0.5, 1), 0.5 + 4.5);
  EXPECT_EQ(roundings(0.5, 1, 4, 1), 0.5 + 4);
  EXPECT_EQ(roundings(0.5, 0, 4, 0), 0);  // as in a sum of integers
  EXPECT_EQ(roundings(0.5, 1, 0, 0), 0.5);
}

template <Charge kCharge>
Partials<Charged<kCharge>> PowerOf(double base, double exponent,
                                   double roundings) {
  using C = Charged<kCharge>;
  const C a = C::Rounded(base, 1);
  const C b = C::Rounded(exponent, roundings);
  return KnownPartials(Primitive::kPow, a, b, C::Of(Primitive::kPow, a, b));
}

// Kills: a power of 0 whose derivatives are unknown since its exponent was
// given; one after the exponent that is 0 where there is none.
TEST(Charged, APowerOfZeroHasTheDerivativesOfItsLimit) {
  struct Row {
    double exponent, after_base;
    bool base_is_known, exponent_is_known;
  };
  const Row rows[] = {{3, 0, true, true},   {1.5, 0, true, true},
                      {1, 1, true, true},   {0.5, kInf, true, true},
                      {0, 0, true, false},  {-0.5, 0, false, false},
                      {-2, 0, false, false}};
  for (const Row& row : rows) {
    const auto expect = [&](const auto& d) {
      EXPECT_EQ(d.a.units == kInf, !row.base_is_known) << row.exponent;
      EXPECT_EQ(d.b.units == kInf, !row.exponent_is_known) << row.exponent;
      // An unknown derivative has the value 0, too.
      EXPECT_EQ(d.a.value, row.after_base) << row.exponent;
      EXPECT_EQ(d.b.value, 0) << row.exponent;
    };
    expect(PowerOf<Charge::kCondition>(0, row.exponent, 1));
    expect(PowerOf<Charge::kHard>(0, row.exponent, 1));
    expect(PowerOf<Charge::kBound>(0, row.exponent, 0));
  }
}

// Kills: an exponent in doubt that is taken for 1, and one that is not for a
// doubtful one.
TEST(Charged, ABoundOnAPowerOfZeroDoubtsItsExponent) {
  const auto one = PowerOf<Charge::kBound>(0, 1, 1);
  EXPECT_EQ(one.a.units, kInf);
  EXPECT_EQ(one.b.units, 0);
  EXPECT_EQ(PowerOf<Charge::kBound>(0, 2, 1).a.units, 0);
  EXPECT_EQ(PowerOf<Charge::kBound>(0, 1e-3, 0x1p53).b.units, kInf);
}

// Kills: a value that is unknown since its exponent was given.
TEST(Charged, APowerOfZeroIsZero) {
  using C = Charged<Charge::kHard>;
  const C zero(0);
  EXPECT_EQ(C::Of(Primitive::kPow, zero, C::Rounded(0.5, 1)).units, 0);
  EXPECT_EQ(C::Of(Primitive::kPow, zero, C::Rounded(-0.5, 1)).units, kInf);
}

}  // namespace
}  // namespace assay::reference
