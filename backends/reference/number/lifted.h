// SPDX-License-Identifier: Apache-2.0
//
// Scalars that carry something beside a number, by the rule of each primitive's
// partial derivatives: Dual a tangent, Charged (charged.h) what rounding can
// have done.
//
//   const Dual<double> x(0.5, 1);            // dx = 1
//   const double slope = (x * exp(x)).tangent;
//
// Such a scalar has one function, Of(primitive, a, b); arithmetic and the
// functions of <cmath> below all come to it.

#pragma once

#include "backends/reference/number/primitives.h"

namespace assay::reference {

template <class S>
concept Lifted = S::kIsLifted;

/// The partial derivatives, as far as they are known: all of plain numbers.
template <class S>
Partials<S> KnownPartials(Primitive primitive, const S& a, const S& b,
                          const S& v, Wanted wanted = {}) {
  return PartialsOf<S>(primitive, a, b, v, wanted);
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
