// SPDX-License-Identifier: Apache-2.0
//
// Scalars that carry something beside a number, by the rule of each primitive's
// partial derivatives: Dual a tangent, Charged what rounding can have done.
//
//   const Dual<double> x(0.5, 1);            // dx = 1
//   const double slope = (x * exp(x)).tangent;
//
// Such a scalar has one function, Of(primitive, a, b); arithmetic and the
// functions of <cmath> below all come to it.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/reference/tape/primitives.h"

namespace assay::reference {

template <class S>
concept Lifted = S::kIsLifted;

/// A number and its derivative along a direction.
template <class S>
struct Dual {
  static constexpr bool kIsLifted = true;

  Dual() = default;
  explicit Dual(double x) : value(x) {}
  explicit Dual(int x) : value(x) {}
  Dual(const S& number, const S& direction)
      : value(number), tangent(direction) {}

  static Dual Of(Primitive primitive, const Dual& a, const Dual& b = Dual()) {
    const S v = Apply<S>(primitive, a.value, b.value);
    const Partials<S> d = PartialsOf<S>(primitive, a.value, b.value, v);
    S tangent(0);
    // A tangent of 0 adds nothing, also against an infinite derivative.
    if (ToDouble(a.tangent) != 0) tangent = tangent + d.a * a.tangent;
    if (ToDouble(b.tangent) != 0) tangent = tangent + d.b * b.tangent;
    return {v, tangent};
  }

  S value{0};
  S tangent{0};
};

template <class S>
double ToDouble(const Dual<S>& x) {
  return ToDouble(x.value);
}
template <class S>
bool IsZero(const Dual<S>& x) {
  return ToDouble(x.value) == 0 && ToDouble(x.tangent) == 0;
}

/// The errors that a Charged counts.
enum class Charge : uint8_t {
  /// One rounding of each number given and of each result that is no sum: the
  /// unit that errors are judged in. What a sum of rounded numbers loses to
  /// cancellation is in it; how the sum is ordered is not.
  kCondition,
  /// Every rounding, sums and the inexactness of library functions included:
  /// with the unit roundoff, a bound on the error, to first order.
  kBound,
};

/// A number and, in units of the roundoff, what the roundings before it can
/// have done to it.
template <Charge kCharge>
struct Charged {
  static constexpr bool kIsLifted = true;
  /// Roundoff of double, in which the steps of a tape were taken.
  static constexpr double kRoundoff = 0x1p-53;

  Charged() = default;
  explicit Charged(double x) : value(x) {}
  explicit Charged(int x) : value(x) {}
  Charged(double number, double charge) : value(number), units(charge) {}

  /// How many roundings a result is charged. Functions of glibc and of
  /// libquadmath are within two units in the last place, which are four
  /// roundings (glibc manual, "Known Maximum Errors in Math Functions").
  static double RoundingsOf(Primitive primitive) {
    switch (primitive) {
      case Primitive::kAdd:
      case Primitive::kSubtract:
        return kCharge == Charge::kBound ? 1 : 0;
      case Primitive::kMultiply:
      case Primitive::kDivide:
      case Primitive::kSqrt:
        return 1;
      case Primitive::kNegate:
      case Primitive::kAbs:
      case Primitive::kFmod:
      case Primitive::kFloor:
      case Primitive::kCeil:
      case Primitive::kRound:
      case Primitive::kTrunc:
      case Primitive::kDetach:
        return 0;
      default:
        return kCharge == Charge::kBound ? 4 : 1;
    }
  }

  static Charged Of(Primitive primitive, const Charged& a,
                    const Charged& b = Charged()) {
    const double v = Apply<double>(primitive, a.value, b.value);
    if (!std::isfinite(v)) return {v, 0};  // nothing is rounded to those
    const Partials<double> d =
        PartialsOf<double>(primitive, a.value, b.value, v);
    double units = RoundingsOf(primitive) * std::abs(v);
    units += Carried(Moved(primitive, d.a), a.units);
    units += Carried(std::abs(d.b), b.units);
    const double doubt = (a.units + b.units) * kRoundoff;
    const double gap = GapOf(primitive, a.value, b.value);
    if (std::isfinite(gap) && doubt != 0 && doubt >= gap) {
      units +=
          (primitive == Primitive::kFmod ? std::abs(b.value) : 1) / kRoundoff;
    }
    return {v, units};
  }

  /// How far a is from where a step jumps; infinite for what is no step.
  static double GapOf(Primitive primitive, double a, double b) {
    switch (primitive) {
      case Primitive::kFloor:
      case Primitive::kCeil:
      case Primitive::kTrunc:
        return std::abs(a - std::nearbyint(a));
      case Primitive::kRound:
        return std::abs(std::abs(a - std::floor(a)) - 0.5);
      case Primitive::kFmod:
        return std::abs(a - b * std::nearbyint(a / b));
      default:
        return std::numeric_limits<double>::infinity();
    }
  }

  /// An exact operand carries no error on, also against an infinite derivative,
  /// and neither does one without influence.
  static double Carried(double partial, double units) {
    return partial == 0 || units == 0 ? 0 : partial * units;
  }

  /// How much a result moves with its operand. That of Detach has no
  /// derivative, yet moves.
  static double Moved(Primitive primitive, double partial) {
    const bool follows =
        primitive == Primitive::kDetach || primitive == Primitive::kAbs;
    return follows ? 1 : std::abs(partial);
  }

  double value = 0;
  double units = 0;
};

template <Charge kCharge>
double ToDouble(const Charged<kCharge>& x) {
  return x.value;
}
template <Charge kCharge>
bool IsZero(const Charged<kCharge>& x) {
  return x.value == 0 && x.units == 0;
}

template <Lifted S>
S operator+(const S& a, const S& b) {
  return S::Of(Primitive::kAdd, a, b);
}
template <Lifted S>
S operator-(const S& a, const S& b) {
  return S::Of(Primitive::kSubtract, a, b);
}
template <Lifted S>
S operator*(const S& a, const S& b) {
  return S::Of(Primitive::kMultiply, a, b);
}
template <Lifted S>
S operator/(const S& a, const S& b) {
  return S::Of(Primitive::kDivide, a, b);
}
template <Lifted S>
S pow(const S& a, const S& b) {
  return S::Of(Primitive::kPow, a, b);
}
template <Lifted S>
S fmod(const S& a, const S& b) {
  return S::Of(Primitive::kFmod, a, b);
}
template <Lifted S>
S operator-(const S& a) {
  return S::Of(Primitive::kNegate, a);
}
template <Lifted S>
S abs(const S& a) {
  return S::Of(Primitive::kAbs, a);
}
template <Lifted S>
S sqrt(const S& a) {
  return S::Of(Primitive::kSqrt, a);
}
template <Lifted S>
S exp(const S& a) {
  return S::Of(Primitive::kExp, a);
}
template <Lifted S>
S expm1(const S& a) {
  return S::Of(Primitive::kExpm1, a);
}
template <Lifted S>
S log(const S& a) {
  return S::Of(Primitive::kLog, a);
}
template <Lifted S>
S log1p(const S& a) {
  return S::Of(Primitive::kLog1p, a);
}
template <Lifted S>
S sin(const S& a) {
  return S::Of(Primitive::kSin, a);
}
template <Lifted S>
S cos(const S& a) {
  return S::Of(Primitive::kCos, a);
}
template <Lifted S>
S tan(const S& a) {
  return S::Of(Primitive::kTan, a);
}
template <Lifted S>
S asin(const S& a) {
  return S::Of(Primitive::kAsin, a);
}
template <Lifted S>
S acos(const S& a) {
  return S::Of(Primitive::kAcos, a);
}
template <Lifted S>
S atan(const S& a) {
  return S::Of(Primitive::kAtan, a);
}
template <Lifted S>
S sinh(const S& a) {
  return S::Of(Primitive::kSinh, a);
}
template <Lifted S>
S cosh(const S& a) {
  return S::Of(Primitive::kCosh, a);
}
template <Lifted S>
S tanh(const S& a) {
  return S::Of(Primitive::kTanh, a);
}
template <Lifted S>
S asinh(const S& a) {
  return S::Of(Primitive::kAsinh, a);
}
template <Lifted S>
S acosh(const S& a) {
  return S::Of(Primitive::kAcosh, a);
}
template <Lifted S>
S atanh(const S& a) {
  return S::Of(Primitive::kAtanh, a);
}
template <Lifted S>
S erf(const S& a) {
  return S::Of(Primitive::kErf, a);
}
template <Lifted S>
S floor(const S& a) {
  return S::Of(Primitive::kFloor, a);
}
template <Lifted S>
S ceil(const S& a) {
  return S::Of(Primitive::kCeil, a);
}
template <Lifted S>
S nearbyint(const S& a) {
  return S::Of(Primitive::kRound, a);
}
template <Lifted S>
S trunc(const S& a) {
  return S::Of(Primitive::kTrunc, a);
}

}  // namespace assay::reference
