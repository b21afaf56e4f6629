// SPDX-License-Identifier: Apache-2.0
//
// Quad: a number of 113 bits, in which formulas of optimizers are computed to
// judge others. It also says how far the roundings of a type may take the same
// formula: each operation adds one rounding of its result to what its operands
// bring (running error analysis: N. J. Higham, "Accuracy and Stability of
// Numerical Algorithms", 2002, section 3.3). So a difference that cancels, and
// a quotient near a zero, have the limit of their condition.
//
//   const Quad g = Quad::Of(0.5F, 0x1p-24), x = Quad::Of(-5.0F, 0x1p-24);
//   const Quad d = g + 0.1 * x;  // nearly 0
//   LimitOf(d);                  // some roundings of 0.5
//
// The compiler has the type (IEEE 754 binary128); no library of it is used.

#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace assay::quad {

__extension__ typedef __float128 Float128;

inline double Size(Float128 x) { return std::abs(static_cast<double>(x)); }

struct Quad {
  Quad() = default;
  /// A constant, exact until it meets a number of a type.
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, Float128> Quad(
      T constant)
      : value(constant) {}

  /// A number of a type, as it is.
  static Quad Of(double number, double roundoff);
  /// A result of an operation, of operands whose errors take it so far.
  static Quad Rounded(Float128 value, double error, double roundoff);

  /// How far roundings may have taken it by the time it is used beside numbers
  /// of this roundoff: a constant is rounded to their type.
  double ErrorAt(double of_type) const;

  explicit operator double() const { return static_cast<double>(value); }
  explicit operator float() const { return static_cast<float>(value); }

  Float128 value = 0;
  double error = 0;
  double roundoff = 0;  // of the type that it is rounded to; 0: a constant's
};

using QuadTensor = std::vector<Quad>;

/// A number of an optimizer may be off by so many times what roundings in the
/// order of the formula explain: other orders have others, and a library's root
/// or quotient may have two.
inline constexpr double kOrders = 4;

/// The limit of an optimizer's number; not finite where roundings may take it
/// anywhere.
double LimitOf(const Quad& x);

Quad operator-(const Quad& a);
Quad operator+(const Quad& a, const Quad& b);
Quad operator-(const Quad& a, const Quad& b);
Quad operator*(const Quad& a, const Quad& b);
Quad operator/(const Quad& a, const Quad& b);
inline Quad& operator+=(Quad& a, const Quad& b) { return a = a + b; }
inline Quad& operator-=(Quad& a, const Quad& b) { return a = a - b; }
inline Quad& operator*=(Quad& a, const Quad& b) { return a = a * b; }
inline Quad& operator/=(Quad& a, const Quad& b) { return a = a / b; }

inline bool operator==(const Quad& a, const Quad& b) {
  return a.value == b.value;
}
inline bool operator<(const Quad& a, const Quad& b) {
  return a.value < b.value;
}
inline bool operator>(const Quad& a, const Quad& b) { return b < a; }

/// The greater and the less of two, which roundings may exchange.
Quad Max(const Quad& a, const Quad& b);
Quad Min(const Quad& a, const Quad& b);

/// The square root, off by less than a unit in the last place; NaN below 0.
Float128 RootOf(Float128 a);
Quad Root(const Quad& a);

/// base^exponent by repeated squaring, for an exponent of 0 or more.
Quad Power(Quad base, int64_t exponent);

/// Roundings of a long sum have random signs: they grow as a root.
Quad SumOfSquares(const QuadTensor& tensor);

}  // namespace assay::quad
