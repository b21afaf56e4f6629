// SPDX-License-Identifier: Apache-2.0
//
// The function of each primitive and its partial derivatives, once, for every
// scalar that passes over a tape compute in. A scalar S brings arithmetic and
// the functions of <cmath> by argument-dependent lookup.
//
//   const S a = 2, b = 3, v = Apply(Primitive::kMultiply, a, b);
//   const auto d = PartialsOf<S>(Primitive::kMultiply, a, b, v);  // dv/da, db
//
// Source of the derivatives: Abramowitz and Stegun, Handbook of Mathematical
// Functions, 4.1 to 4.6 and 7.1. Each is written so that it loses nothing to
// cancellation where the function itself does not.

#pragma once

#include <concepts>
#include <cstdlib>

#include "backends/reference/scalar/math_functions.h"
#include "backends/reference/scalar/var.h"

namespace assay::reference {

/// The number as a double, for choosing.
inline double ToDouble(double x) { return x; }
inline bool IsZero(double x) { return x == 0; }

/// On which side of 0 a number is, where a derivative jumps. A scalar that
/// records notes that it was asked.
template <class S>
bool IsAboveZero(const S& x) {
  return ToDouble(x) > 0;
}
template <class S>
bool IsBelowZero(const S& x) {
  return ToDouble(x) < 0;
}

inline bool HasTwoOperands(Primitive primitive) {
  return primitive >= Primitive::kAdd && primitive <= Primitive::kFmod;
}

/// True when a tape names the operands of a node of it: it is a function.
inline bool HasOperands(Primitive primitive) {
  return primitive >= Primitive::kAdd && primitive <= Primitive::kDetach;
}

/// True for an absolute value and for steps.
inline bool HasKink(Primitive primitive) {
  return primitive == Primitive::kAbs || primitive == Primitive::kFmod ||
         (primitive >= Primitive::kFloor && primitive <= Primitive::kTrunc);
}

/// The value of a primitive of two operands.
template <class S>
S ApplyTwo(Primitive primitive, const S& a, const S& b) {
  switch (primitive) {
    case Primitive::kAdd:
      return a + b;
    case Primitive::kSubtract:
      return a - b;
    case Primitive::kMultiply:
      return a * b;
    case Primitive::kDivide:
      return a / b;
    case Primitive::kPow:
      return pow(a, b);
    case Primitive::kFmod:
      return fmod(a, b);
    default:
      std::abort();  // it has one operand, or is the business of the pass
  }
}

/// The value of a function.
template <class S>
S ApplyFunction(Primitive primitive, const S& a) {
  switch (primitive) {
    case Primitive::kAbs:
      return abs(a);
#define ASSAY_CASE(function, name) \
  case Primitive::function:        \
    return name(a);
      ASSAY_SMOOTH_FUNCTIONS(ASSAY_CASE)
#undef ASSAY_CASE
    default:
      std::abort();
  }
}

/// The number without its derivatives, where the scalar has some.
template <class S>
S Detached(const S& a) {
  return a;
}

/// The value of a primitive of up to two operands. Inputs, constants, choices
/// and blocks are the business of the pass.
template <class S>
S Apply(Primitive primitive, const S& a, const S& b) {
  if (HasTwoOperands(primitive)) return ApplyTwo(primitive, a, b);
  switch (primitive) {
    case Primitive::kNegate:
      return -a;
    case Primitive::kFloor:
      return floor(a);
    case Primitive::kCeil:
      return ceil(a);
    case Primitive::kRound:
      return nearbyint(a);
    case Primitive::kTrunc:
      return trunc(a);
    case Primitive::kDetach:
      return Detached(a);
    default:
      return ApplyFunction(primitive, a);
  }
}

template <class S>
struct Partials {
  S a{0};
  S b{0};
};

/// 2 / sqrt(pi), as exact as S is.
template <class S>
S TwoOverRootPi() {
  const auto computed = [] { return S(2) / sqrt(acos(S(-1))); };
  if constexpr (std::same_as<S, Var>) return computed();  // on this tape
  static const S kFactor = computed();
  return kFactor;
}

/// 2 exp(-a^2) / sqrt(pi), the derivative of erf. Beyond 2^20 it is below every
/// number that a scalar of ours has, and a^2 is not.
template <class S>
S Bell(const S& a) {
  const S x = ToDouble(abs(a)) < 0x1p20 ? a : S(0x1p20);
  return TwoOverRootPi<S>() * exp(-(x * x));
}

/// 1 / (1 + a^2), where a^2 may have no number.
template <class S>
S OverOnePlusSquare(const S& a) {
  const S one(1);
  if (ToDouble(abs(a)) <= 1) return one / (one + a * a);
  const S over = one / a;
  return over * over / (one + over * over);
}

/// dv/da of a function of one operand.
template <class S>
S DerivativeOf(Primitive primitive, const S& a, const S& v) {
  const S one(1);
  switch (primitive) {
    case Primitive::kNegate:
      return -one;
    case Primitive::kAbs:  // 0 at 0, where there is none
      return IsAboveZero(a) ? one : IsBelowZero(a) ? -one : S(0);
    case Primitive::kSqrt:
      return one / (v + v);
    case Primitive::kExp:
      return v;
    case Primitive::kExpm1:
      return exp(a);
    case Primitive::kLog:
      return one / a;
    case Primitive::kLog1p:
      return one / (one + a);
    case Primitive::kSin:
      return cos(a);
    case Primitive::kCos:
      return -sin(a);
    case Primitive::kTan:
      return one + v * v;
    case Primitive::kAsin:
      return one / sqrt((one - a) * (one + a));
    case Primitive::kAcos:
      return -one / sqrt((one - a) * (one + a));
    case Primitive::kAtan:
      return OverOnePlusSquare(a);
    case Primitive::kSinh:
      return cosh(a);
    case Primitive::kCosh:
      return sinh(a);
    case Primitive::kTanh: {
      // 1 / cosh(a), which does not overflow.
      const S e = exp(-abs(a));
      const S slope = (e + e) / (one + e * e);
      return slope * slope;
    }
    case Primitive::kAsinh:
      if (ToDouble(abs(a)) > 1) {
        const S over = one / abs(a);
        return over / sqrt(one + over * over);
      }
      return one / sqrt(one + a * a);
    case Primitive::kAcosh:
      return one / (sqrt(a - one) * sqrt(a + one));
    case Primitive::kAtanh:
      return one / ((one - a) * (one + a));
    case Primitive::kErf:
      return Bell(a);
    case Primitive::kErfc:
      return -Bell(a);
    default:  // steps, and what is detached
      return S(0);
  }
}

/// Which partial derivatives are asked for. The others may be anything.
struct Wanted {
  bool a = true;
  bool b = true;
};

/// The partial derivatives of v = Apply(primitive, a, b).
template <class S>
Partials<S> PartialsOf(Primitive primitive, const S& a, const S& b, const S& v,
                       Wanted wanted = {}) {
  const S one(1);
  switch (primitive) {
    case Primitive::kAdd:
      return {one, one};
    case Primitive::kSubtract:
      return {one, -one};
    case Primitive::kMultiply:
      return {b, a};
    case Primitive::kDivide:
      return {one / b, -(v / b)};
    case Primitive::kPow: {
      // Constant exponents of bases below 0 have a derivative after the base
      // only, and a zero base one after the exponent: 0.
      Partials<S> d;
      if (wanted.a && ToDouble(b) != 0) d.a = S(b * pow(a, S(b - one)));
      if (wanted.b && IsAboveZero(a)) d.b = S(v * log(a));
      return d;
    }
    case Primitive::kFmod:
      return {one, -trunc(a / b)};
    default:
      return {DerivativeOf(primitive, a, v), S(0)};
  }
}

/// A scalar that carries something beside a number: Dual a tangent, Charged
/// (charged.h) what rounding can have done. It has one function, Of(primitive,
/// a, b); arithmetic and the functions of <cmath> all come to it.
template <class S>
concept Lifted = S::kIsLifted;

/// The partial derivatives, as far as they are known: all of plain numbers.
template <class S>
Partials<S> KnownPartials(Primitive primitive, const S& a, const S& b,
                          const S& v, Wanted wanted = {}) {
  return PartialsOf<S>(primitive, a, b, v, wanted);
}

/// A number and its derivative along a direction: with Dual<double> x(0.5, 1)
/// the slope of x * exp(x) is (x * exp(x)).tangent.
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
    const Partials<S> d =
        KnownPartials(primitive, a.value, b.value, v,
                      {.a = !IsZero(a.tangent), .b = !IsZero(b.tangent)});
    S tangent(0);
    // Neither a tangent nor a derivative of 0 adds anything, also against what
    // is infinite.
    if (!IsZero(a.tangent) && !IsZero(d.a)) tangent = tangent + d.a * a.tangent;
    if (!IsZero(b.tangent) && !IsZero(d.b)) tangent = tangent + d.b * b.tangent;
    return {v, tangent};
  }

  S value{0};
  S tangent{0};
};

template <class S>
Dual<S> Detached(const Dual<S>& x) {
  return {x.value, S(0)};
}
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
#define ASSAY_LIFTED(primitive, name)      \
  template <Lifted S>                      \
  S name(const S& a) {                     \
    return S::Of(Primitive::primitive, a); \
  }
ASSAY_SMOOTH_FUNCTIONS(ASSAY_LIFTED)
ASSAY_LIFTED(kNegate, operator-)
ASSAY_LIFTED(kAbs, abs)
ASSAY_LIFTED(kFloor, floor)
ASSAY_LIFTED(kCeil, ceil)
ASSAY_LIFTED(kRound, nearbyint)
ASSAY_LIFTED(kTrunc, trunc)
#undef ASSAY_LIFTED

}  // namespace assay::reference
