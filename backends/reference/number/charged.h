// SPDX-License-Identifier: Apache-2.0
//
// Charged: a number with what rounding can have done to it, by the partial
// derivatives of each primitive. A pass over a tape with it gives bounds.
//
//   using Bounded = Charged<Charge::kBound, Quad>;
//   const Bounded y = exp(Bounded::Rounded(0.5, 1)) / Bounded(3);
//   const double off_by = y.Error();  // at most

#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "backends/reference/number/first_order.h"
#include "backends/reference/number/mpfr.h"
#include "backends/reference/number/primitives.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

/// The errors that a Charged counts.
enum class Charge : uint8_t {
  /// One rounding of each number given and of each result that is no sum: the
  /// unit that errors are judged in. It includes the loss of a sum of rounded
  /// numbers to cancellation, but not the order of the sum. The rounding of
  /// such a sum is no more than those of its numbers; so the rounding of a sum
  /// of a rounded number and an exact one, which has none, counts.
  kCondition,
  /// One rounding of sums, too.
  kHard,
  /// Every rounding, sums and the inexactness of library functions included:
  /// with the unit roundoff, a bound on the error, to first order.
  kBound,
};

/// How many roundings a result is charged. primitives_test.cc measures those
/// of the functions against MPFR: of glibc's and libquadmath's none is off by
/// 4 units in the last place, which are 8 roundings, but glibc 2.36's sin,
/// cos and tan of some great numbers, by 8.
inline double RoundingsOf(Primitive primitive, Charge charge) {
  switch (primitive) {
    case Primitive::kAdd:
    case Primitive::kSubtract:
      return charge == Charge::kCondition ? 0 : 1;
    case Primitive::kMultiply:
    case Primitive::kDivide:
      return 1;
    case Primitive::kSqrt:  // libquadmath's is not rounded correctly
      return charge == Charge::kBound ? 2 : 1;
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
      return charge == Charge::kBound ? 20 : 1;
    default:
      return charge == Charge::kBound ? 8 : 1;
  }
}

/// The unit roundoff of a scalar.
template <class S>
inline constexpr double kRoundoffOf = 0x1p-53;
template <>
inline constexpr double kRoundoffOf<Quad> = 0x1p-113;
template <>
inline constexpr double kRoundoffOf<Mpfr> = 0x1p-256;
static_assert(Mpfr::kBits == 256);

/// An exact operand carries no error on, also against an infinite derivative,
/// and neither does one without influence.
inline double Carried(double partial, double units) {
  return partial == 0 || units == 0 ? 0 : std::abs(partial) * units;
}

/// While one lives, in its thread, steps and choices are those that were taken,
/// whatever rounding could have made of them.
class AsTaken {
 public:
  AsTaken() : before_(is_set_) { is_set_ = true; }
  AsTaken(const AsTaken&) = delete;
  AsTaken& operator=(const AsTaken&) = delete;
  ~AsTaken() { is_set_ = before_; }

  static bool is_set() { return is_set_; }

 private:
  inline static thread_local bool is_set_ = false;
  bool before_;
};

/// A number and what the roundings before it can have done to it, each being
/// one of S. Charges are kept in units of 256 roundoffs, so that those of great
/// numbers are finite. Infinite: unknown, since a number on the way was beyond
/// the range of double, or a step may have gone either way.
template <Charge kCharge, class S = double>
struct Charged {
  static constexpr bool kIsLifted = true;
  static constexpr double kUnit = 256;
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  Charged() = default;
  explicit Charged(double x) : value(x) {}
  explicit Charged(int x) : value(x) {}
  Charged(const S& number, double charge) : value(number), units(charge) {}
  /// A number that was rounded as often, if it is finite.
  static Charged Rounded(double number, double roundings) {
    const bool is_rounded = std::isfinite(number);
    return {S(number), is_rounded ? roundings / kUnit * std::abs(number) : 0};
  }

  double Roundings() const { return units * kUnit; }
  /// How far off the number is at most.
  double Error() const {
    return units == 0 ? 0 : units * (kUnit * kRoundoffOf<S>)+0x1p-1074;
  }

  static Charged Of(Primitive primitive, const Charged& a,
                    const Charged& b = Charged()) {
    const S v = Apply<S>(primitive, a.value, b.value);
    return {v, UnitsOf(primitive, a, b, ToDouble(v))};
  }

  /// True when a step may have gone the other way.
  static bool MayStep(Primitive primitive, const Charged& a, const Charged& b) {
    return (a.units != 0 || b.units != 0) &&
           IsWithin(StepGap<S>(primitive, a.value, b.value), a, b) &&
           !AsTaken::is_set();
  }
  /// True when it may be otherwise which of the two is the greater.
  static bool MayCross(const Charged& a, const Charged& b) {
    return (a.units != 0 || b.units != 0) &&
           IsWithin(std::abs(ToDouble(S(a.value - b.value))), a, b) &&
           !AsTaken::is_set();
  }

  S value{0};
  double units = 0;

  // The parts of the charge of a result v, for a pass that adds them otherwise.

  /// The effect of the first operand's error on a result v. A power takes the
  /// error as a share of the operand, since its derivative may be below all of
  /// double. The result of Detach has no derivative, yet moves.
  static double ByA(Primitive primitive, const Charged& a, double at_b,
                    double v) {
    if (a.units == 0) return 0;
    const double at_a = ToDouble(a.value);
    if (primitive == Primitive::kDetach || primitive == Primitive::kAbs) {
      return a.units;
    }
    if (primitive == Primitive::kPow && at_a != 0) {
      return Carried(at_b * v, a.units / std::abs(at_a));
    }
    const double partial = PartialsOf<double>(primitive, at_a, at_b, v).a;
    if (primitive == Primitive::kSin || primitive == Primitive::kCos) {
      // In double the operand is off by as much as the derivative may be.
      const double rounded =
          std::same_as<S, double> ? 0 : 0x1p-53 * std::abs(at_a);
      const double off = kCharge == Charge::kCondition ? a.Error() : rounded;
      return Carried(std::min(1.0, std::abs(partial) + off), a.units);
    }
    return Carried(partial, a.units);
  }
  /// The effect of the second operand's error; a quotient takes it as a share
  /// of the operand.
  static double ByB(Primitive primitive, const Charged& b, double at_a,
                    double v) {
    if (b.units == 0) return 0;
    const double at_b = ToDouble(b.value);
    if (primitive == Primitive::kDivide && at_b != 0) {
      return Carried(v, b.units / std::abs(at_b));
    }
    const auto d = PartialsOf<double>(primitive, at_a, at_b, v, {.a = false});
    return Carried(d.b, b.units);
  }

  /// The effect of errors to second order where the first may vanish, in units.
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

  /// True when the rounding of a sum of two numbers that are not an exact 0
  /// counts.
  static bool IsRoundedSum(double units_of_a, double units_of_b) {
    return kCharge != Charge::kCondition ||
           (units_of_a == 0) != (units_of_b == 0);
  }

  /// The effect of rounding the result itself.
  static double OwnUnits(Primitive primitive, const Charged& a,
                         const Charged& b, double v) {
    const double at_a = ToDouble(a.value);
    const double at_b = ToDouble(b.value);
    const bool is_sum =
        primitive == Primitive::kAdd || primitive == Primitive::kSubtract;
    const double roundings = is_sum && IsRoundedSum(a.units, b.units)
                                 ? 1
                                 : RoundingsOf(primitive, kCharge);
    if (roundings == 0) return 0;
    const double own = roundings / kUnit * std::abs(v);
    if (kCharge == Charge::kBound && a.units == 0 && b.units == 0 &&
        IsExact(primitive, at_a, at_b, v)) {
      return 0;
    }
    if (LeavesAsIs(primitive, a, b)) return 0;
    // Below the normal numbers the error is half the least one, whatever v is.
    const bool by_b =
        HasTwoOperands(primitive) && (at_b == 0 || !std::isfinite(at_b));
    const bool vanishes = v == 0 && (by_b || at_a == 0 || !std::isfinite(at_a));
    const bool rounds_small = std::abs(v) < 0x1p-1022 && !is_sum && !vanishes;
    return rounds_small ? own + 0x1p-1021 / kUnit : own;
  }

 private:
  static bool IsWithin(double gap, const Charged& a, const Charged& b) {
    return gap != kUnknown && !(gap > a.Error() + b.Error());
  }

  /// The units of a result v, whose derivatives are those of double.
  static double UnitsOf(Primitive primitive, const Charged& a, const Charged& b,
                        double v) {
    const double at_a = ToDouble(a.value);
    const double at_b = ToDouble(b.value);
    if (!std::isfinite(v)) {
      return IsKnownSpecial(primitive, a, b, v) ? 0 : kUnknown;
    }
    double units = ByA(primitive, a, at_b, v) + ByB(primitive, b, at_a, v);
    if (a.units != 0 || b.units != 0) {
      const double stretch =
          Stretch(primitive, at_a, a.Error(), at_b, b.Error());
      if (kCharge == Charge::kBound) {
        units = units * stretch + Curved(primitive, a, b);
      } else if (stretch == kUnknown) {
        units = kUnknown;
      }
    }
    units += OwnUnits(primitive, a, b, v);
    if (MayStep(primitive, a, b)) units = kUnknown;
    return std::isnan(units) ? kUnknown : units;
  }

  /// True for a product with 1, a quotient by it and a sum with 0, which no
  /// arithmetic rounds.
  static bool LeavesAsIs(Primitive primitive, const Charged& a,
                         const Charged& b) {
    const auto is = [](const Charged& x, double number) {
      return x.units == 0 && std::abs(ToDouble(x.value)) == number;
    };
    switch (primitive) {
      case Primitive::kMultiply:
        return is(a, 1) || is(b, 1);
      case Primitive::kDivide:
        return is(b, 1);
      case Primitive::kAdd:
      case Primitive::kSubtract:
        return is(a, 0) || is(b, 0);
      default:
        return false;
    }
  }

  /// True when an infinity or no number is what exact arithmetic gives too, and
  /// not a finite number that double has none for.
  static bool IsKnownSpecial(Primitive primitive, const Charged& a,
                             const Charged& b, double v) {
    if (a.units == kUnknown || b.units == kUnknown) return false;
    const double at_a = ToDouble(a.value);
    const double at_b = ToDouble(b.value);
    const bool exact = a.units == 0 && b.units == 0;
    if (std::isinf(v) && std::isfinite(at_a) && std::isfinite(at_b)) {
      return exact && IsPole(primitive, at_a, at_b);
    }
    const auto stays = [&](double by_a, double by_b) {
      const double other = Apply<double>(primitive, at_a + by_a * a.Error(),
                                         at_b + by_b * b.Error());
      return other == v || (std::isnan(other) && std::isnan(v));
    };
    return exact ||
           (stays(1, 1) && stays(1, -1) && stays(-1, 1) && stays(-1, -1));
  }
};

/// True for scalars of which a derivative of 0 has a say in a reverse pass.
template <class S>
inline constexpr bool kMeetsZeros = false;
template <Charge kCharge, class S>
inline constexpr bool kMeetsZeros<Charged<kCharge, S>> =
    kCharge != Charge::kBound;

/// A number that is subtracted and added again cancels, unless it is infinite:
/// its units are unknown then.
template <Charge kCharge, class S>
Charged<kCharge, S> Detached(const Charged<kCharge, S>& x) {
  if (kCharge == Charge::kBound || std::isfinite(ToDouble(x.value))) return x;
  return {x.value, Charged<kCharge, S>::kUnknown};
}

/// As Of charges it, in less time: adjoints are added up by it.
template <Charge kCharge, class S>
inline Charged<kCharge, S> operator+(const Charged<kCharge, S>& a,
                                     const Charged<kCharge, S>& b) {
  using C = Charged<kCharge, S>;
  const S sum(a.value + b.value);
  const double of_sum = ToDouble(sum);
  const double units = a.units + b.units;
  if (!std::isfinite(of_sum)) return C::Of(Primitive::kAdd, a, b);
  const double of_a = ToDouble(a.value);
  const double of_b = ToDouble(b.value);
  const bool is_rounded = C::IsRoundedSum(a.units, b.units) &&
                          !(a.units == 0 && of_a == 0) &&
                          !(b.units == 0 && of_b == 0) &&
                          !(kCharge == Charge::kBound && units == 0 &&
                            IsExact(Primitive::kAdd, of_a, of_b, of_sum));
  return {sum, is_rounded ? units + std::abs(of_sum) / C::kUnit : units};
}

/// The same of a product.
template <Charge kCharge, class S>
inline Charged<kCharge, S> operator*(const Charged<kCharge, S>& a,
                                     const Charged<kCharge, S>& b) {
  using C = Charged<kCharge, S>;
  const S product(a.value * b.value);
  const double signed_a = ToDouble(a.value);
  const double signed_b = ToDouble(b.value);
  const double of_a = std::abs(signed_a);
  const double of_b = std::abs(signed_b);
  const double of_product = std::abs(ToDouble(product));
  double units = of_b * a.units + of_a * b.units;
  if (!(of_product >= 0x1p-1022 && of_product < C::kUnknown)) {
    return C::Of(Primitive::kMultiply, a, b);
  }
  if (kCharge == Charge::kBound && a.units != 0 && b.units != 0) {
    units += a.Error() * b.units;
  }
  const bool is_rounded =
      !(a.units == 0 && of_a == 1) && !(b.units == 0 && of_b == 1) &&
      !(kCharge == Charge::kBound && a.units == 0 && b.units == 0 &&
        IsExact(Primitive::kMultiply, signed_a, signed_b, ToDouble(product)));
  return {product, is_rounded ? units + of_product / C::kUnit : units};
}

/// sum + a b, each operation as Of charges it.
template <Charge kCharge, class S>
inline Charged<kCharge, S> AddProduct(const Charged<kCharge, S>& sum,
                                      const Charged<kCharge, S>& a,
                                      const Charged<kCharge, S>& b) {
  return sum + a * b;
}

/// The partial derivatives of a power of an exact 0 by base and exponent, each
/// from the side of its domain where it has a limit. A given exponent counts as
/// exact, and so do the choices that were taken: only in a bound is an exponent
/// near 0 or 1 in doubt.
template <Charge kCharge, class S>
Partials<Charged<kCharge, S>> PowerOfZero(const Charged<kCharge, S>& exponent) {
  using C = Charged<kCharge, S>;
  const double p = ToDouble(exponent.value);
  const double beyond_one = ToDouble(S(exponent.value - S(1)));
  const auto is_open = [&](double gap) {
    return kCharge == Charge::kBound && exponent.units != 0 &&
           !(std::abs(gap) > exponent.Error());
  };
  const C unknown(S(0), C::kUnknown);
  Partials<C> d{unknown, unknown};
  if (is_open(p) || std::isnan(p)) return d;
  if (p >= 0 && !is_open(beyond_one)) {
    const bool is_root = p > 0 && beyond_one < 0;
    d.a = C(is_root ? C::kUnknown : beyond_one == 0 ? 1 : 0);
  }
  if (p > 0) d.b = C(0);
  return d;
}

/// A derivative is not known where the number may be on either side of a kink
/// or a step.
template <Charge kCharge, class S>
Partials<Charged<kCharge, S>> KnownPartials(Primitive primitive,
                                            const Charged<kCharge, S>& a,
                                            const Charged<kCharge, S>& b,
                                            const Charged<kCharge, S>& v,
                                            Wanted wanted = {}) {
  using C = Charged<kCharge, S>;
  if (primitive == Primitive::kPow && a.units == 0 && IsZero(a.value)) {
    return PowerOfZero(b);
  }
  Partials<C> d = PartialsOf<C>(primitive, a, b, v, wanted);
  // Whoever has tanh takes 1 - tanh^2, of which the square and both its factors
  // are rounded.
  if (kCharge != Charge::kBound && primitive == Primitive::kTanh) {
    const double tanh = ToDouble(v.value);
    d.a.units += 3 * tanh * tanh / C::kUnit;
  }
  if (!HasKink(primitive)) return d;
  const bool bends = primitive == Primitive::kAbs && C::MayCross(a, C(0));
  if (bends || C::MayStep(primitive, a, b)) {
    d.a.units = C::kUnknown;
    if (primitive == Primitive::kFmod) d.b.units = C::kUnknown;
  }
  return d;
}

template <Charge kCharge, class S>
double ToDouble(const Charged<kCharge, S>& x) {
  return ToDouble(x.value);
}
template <Charge kCharge, class S>
bool IsZero(const Charged<kCharge, S>& x) {
  return IsZero(x.value) && x.units == 0;
}
template <Charge kCharge, class S>
bool operator<(const Charged<kCharge, S>& a, const Charged<kCharge, S>& b) {
  return a.value < b.value;
}

}  // namespace assay::reference
