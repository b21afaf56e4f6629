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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/reference/tape/primitives.h"

namespace assay::reference {

template <class S>
concept Lifted = S::kIsLifted;

/// The partial derivatives, as far as they are known: all of plain numbers.
template <class S>
Partials<S> KnownPartials(Primitive primitive, const S& a, const S& b,
                          const S& v) {
  return PartialsOf<S>(primitive, a, b, v);
}

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
    const Partials<S> d = KnownPartials(primitive, a.value, b.value, v);
    S tangent(0);
    // A tangent of 0 adds nothing, also against an infinite derivative.
    if (!IsZero(a.tangent)) tangent = tangent + d.a * a.tangent;
    if (!IsZero(b.tangent)) tangent = tangent + d.b * b.tangent;
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
  return IsZero(x.value) && IsZero(x.tangent);
}
template <class S>
bool operator<(const Dual<S>& a, const Dual<S>& b) {
  return a.value < b.value;
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

/// A number and what the roundings before it can have done to it. Charges are
/// kept in units of 256 roundoffs, so that those of great numbers are finite.
/// Infinite: unknown, since a number on the way was beyond the range of double,
/// or a step may have gone either way.
template <Charge kCharge>
struct Charged {
  static constexpr bool kIsLifted = true;
  static constexpr double kUnit = 256;
  /// Roundoff of double, in which the steps of a tape were taken.
  static constexpr double kRoundoff = 0x1p-53;
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  Charged() = default;
  explicit Charged(double x) : value(x) {}
  explicit Charged(int x) : value(x) {}
  Charged(double number, double charge) : value(number), units(charge) {}
  /// A number that was rounded as often.
  static Charged Rounded(double number, double roundings) {
    return {number, roundings / kUnit * std::abs(number)};
  }

  double Roundings() const { return units * kUnit; }
  /// How far off the number may be when it is computed with this roundoff.
  double ErrorAt(double roundoff) const {
    return units == 0 ? 0 : units * (kUnit * roundoff) + 0x1p-1074;
  }
  /// How far off the double is.
  double Error() const { return ErrorAt(kRoundoff); }

  /// How many roundings a result is charged. primitives_test.cc measures those
  /// of the functions against MPFR: of glibc's and libquadmath's none is off by
  /// 4 units in the last place, which are 8 roundings, but glibc 2.36's sin,
  /// cos and tan of some great numbers, by 8.
  static double RoundingsOf(Primitive primitive) {
    switch (primitive) {
      case Primitive::kAdd:
      case Primitive::kSubtract:
        return kCharge == Charge::kBound ? 1 : 0;
      case Primitive::kMultiply:
      case Primitive::kDivide:
        return 1;
      case Primitive::kSqrt:  // libquadmath's is not rounded correctly
        return kCharge == Charge::kBound ? 2 : 1;
      case Primitive::kNegate:
      case Primitive::kAbs:
      case Primitive::kFmod:
      case Primitive::kFloor:
      case Primitive::kCeil:
      case Primitive::kRound:
      case Primitive::kTrunc:
      case Primitive::kDetach:
        return 0;
      case Primitive::kSin:
      case Primitive::kCos:
      case Primitive::kTan:
        return kCharge == Charge::kBound ? 20 : 1;
      default:
        return kCharge == Charge::kBound ? 8 : 1;
    }
  }

  static Charged Of(Primitive primitive, const Charged& a,
                    const Charged& b = Charged()) {
    const double v = Apply<double>(primitive, a.value, b.value);
    if (!std::isfinite(v)) {
      const bool known =
          kCharge == Charge::kCondition || IsKnownSpecial(primitive, a, b, v);
      return {v, known ? 0 : kUnknown};
    }
    const Partials<double> d =
        PartialsOf<double>(primitive, a.value, b.value, v);
    double units = Carried(Moved(primitive, d.a), a.units);
    units += Carried(std::abs(d.b), b.units);
    if (kCharge == Charge::kBound && (a.units != 0 || b.units != 0)) {
      units = units * Stretch(primitive, a, b) + Curved(primitive, a, b);
    }
    units += OwnUnits(primitive, a, b, v);
    if (units != 0 && MayStep(primitive, a, b)) units = kUnknown;
    return {v, std::isnan(units) ? kUnknown : units};
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

  /// True when a step may have gone the other way.
  static bool MayStep(Primitive primitive, const Charged& a, const Charged& b) {
    return IsWithin(GapOf(primitive, a.value, b.value), a, b);
  }
  /// True when it may be otherwise which of the two is the greater.
  static bool MayCross(const Charged& a, const Charged& b) {
    return IsWithin(std::abs(a.value - b.value), a, b);
  }

  double value = 0;
  double units = 0;

 private:
  static bool IsWithin(double gap, const Charged& a, const Charged& b) {
    return (a.units != 0 || b.units != 0) && gap != kUnknown &&
           !(gap > a.Error() + b.Error());
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

  /// How much more than to first order an error can do next to a pole or the
  /// end of a domain, or where a function grows; infinite where it reaches it.
  static double Stretch(Primitive primitive, const Charged& a,
                        const Charged& b) {
    double error = a.Error();
    double gap = kUnknown;
    switch (primitive) {
      case Primitive::kDivide:
        error = b.Error();
        gap = std::abs(b.value);
        break;
      case Primitive::kPow:
        error *= std::max(1.0, std::abs(b.value));
        gap = std::abs(a.value);
        break;
      case Primitive::kLog:
      case Primitive::kSqrt:
        gap = std::abs(a.value);
        break;
      case Primitive::kLog1p:
        gap = std::abs(1 + a.value);
        break;
      case Primitive::kAsin:
      case Primitive::kAcos:
      case Primitive::kAtanh:
        gap = 1 - std::abs(a.value);
        break;
      case Primitive::kAcosh:
        gap = a.value - 1;
        break;
      case Primitive::kTan:
        gap = std::abs(std::cos(a.value));
        break;
      case Primitive::kExp:
      case Primitive::kExpm1:
      case Primitive::kSinh:
      case Primitive::kCosh:
        return std::exp(error);
      case Primitive::kTanh:
      case Primitive::kAtan:
      case Primitive::kAsinh:
        return std::exp(2 * error);  // |f''| is at most 2 |f'|
      case Primitive::kErf:
      case Primitive::kErfc:
        return std::exp((2 * std::abs(a.value) + error) * error);
      default:
        return 1;
    }
    const double share = error / gap;
    return share < 0.5 ? 1 / ((1 - share) * (1 - share)) : kUnknown;
  }

  /// What errors do to second order where the first may vanish, in units.
  static double Curved(Primitive primitive, const Charged& a,
                       const Charged& b) {
    const double error = a.Error();
    switch (primitive) {
      case Primitive::kMultiply:
        return a.units == 0 || b.units == 0 ? 0 : error * b.units;
      case Primitive::kSin:
      case Primitive::kCos:
        return a.units == 0 ? 0 : error * a.units;
      default:
        return 0;
    }
  }

  /// What rounding the result itself does.
  static double OwnUnits(Primitive primitive, const Charged& a,
                         const Charged& b, double v) {
    const double roundings = RoundingsOf(primitive);
    if (roundings == 0) return 0;
    const double own = roundings / kUnit * std::abs(v);
    if (kCharge == Charge::kCondition) return own;
    if (a.units == 0 && b.units == 0 &&
        IsExact(primitive, a.value, b.value, v)) {
      return 0;
    }
    // Below the normal numbers the error is half the least one, whatever v is.
    const bool is_sum =
        primitive == Primitive::kAdd || primitive == Primitive::kSubtract;
    const bool by_b =
        HasTwoOperands(primitive) && (b.value == 0 || !std::isfinite(b.value));
    const bool vanishes =
        v == 0 && (by_b || a.value == 0 || !std::isfinite(a.value));
    const bool rounds_small = std::abs(v) < 0x1p-1022 && !is_sum && !vanishes;
    return rounds_small ? own + 0x1p-1021 / kUnit : own;
  }

  /// True when an operation on exact operands has rounded nothing. (A sum by
  /// Knuth's TwoSum; a product, quotient and root by the rest in one rounding.)
  static bool IsExact(Primitive primitive, double a, double b, double v) {
    switch (primitive) {
      case Primitive::kSubtract:
        return IsExact(Primitive::kAdd, a, -b, v);
      case Primitive::kAdd: {
        const double of_b = v - a;
        return (a - (v - of_b)) + (b - of_b) == 0;
      }
      case Primitive::kMultiply:
        return a == 0 || b == 0 ||
               (std::abs(v) > 0x1p-960 && std::fma(a, b, -v) == 0);
      case Primitive::kDivide:
        return a == 0 || (std::abs(a) > 0x1p-960 && std::fma(v, b, -a) == 0);
      case Primitive::kSqrt:
        return a == 0 || (a > 0x1p-960 && std::fma(v, v, -a) == 0);
      case Primitive::kPow:
        return a == 1 || b == 0 || b == 1;
      case Primitive::kAcos:
        return false;
      default:
        return a == 0;
    }
  }

  /// True when an infinity or no number is what exact arithmetic gives too, and
  /// not a finite number that double has none for.
  static bool IsKnownSpecial(Primitive primitive, const Charged& a,
                             const Charged& b, double v) {
    if (a.units == kUnknown || b.units == kUnknown) return false;
    const bool exact = a.units == 0 && b.units == 0;
    if (std::isinf(v) && std::isfinite(a.value) && std::isfinite(b.value)) {
      return exact && IsPole(primitive, a.value, b.value);
    }
    const auto stays = [&](double by_a, double by_b) {
      const double other = Apply<double>(primitive, a.value + by_a * a.Error(),
                                         b.value + by_b * b.Error());
      return other == v || (std::isnan(other) && std::isnan(v));
    };
    return exact ||
           (stays(1, 1) && stays(1, -1) && stays(-1, 1) && stays(-1, -1));
  }

  static bool IsPole(Primitive primitive, double a, double b) {
    switch (primitive) {
      case Primitive::kDivide:
        return b == 0;
      case Primitive::kLog:
      case Primitive::kPow:
        return a == 0;
      case Primitive::kLog1p:
        return a == -1;
      case Primitive::kAtanh:
        return std::abs(a) == 1;
      default:
        return false;
    }
  }
};

/// A derivative is not known where the number may be on either side of a kink
/// or a step.
template <Charge kCharge>
Partials<Charged<kCharge>> KnownPartials(Primitive primitive,
                                         const Charged<kCharge>& a,
                                         const Charged<kCharge>& b,
                                         const Charged<kCharge>& v) {
  using C = Charged<kCharge>;
  Partials<C> d = PartialsOf<C>(primitive, a, b, v);
  const bool bends = primitive == Primitive::kAbs && C::MayCross(a, C(0));
  if (bends || C::MayStep(primitive, a, b)) {
    d.a.units = C::kUnknown;
    if (primitive == Primitive::kFmod) d.b.units = C::kUnknown;
  }
  return d;
}

template <Charge kCharge>
double ToDouble(const Charged<kCharge>& x) {
  return x.value;
}
template <Charge kCharge>
bool IsZero(const Charged<kCharge>& x) {
  return x.value == 0 && x.units == 0;
}
template <Charge kCharge>
bool operator<(const Charged<kCharge>& a, const Charged<kCharge>& b) {
  return a.value < b.value;
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
S erfc(const S& a) {
  return S::Of(Primitive::kErfc, a);
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
