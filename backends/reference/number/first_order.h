// SPDX-License-Identifier: Apache-2.0
//
// Where the first order of a primitive does not hold: steps, poles and the ends
// of domains; and where nothing is rounded at all.
//
//   if (StepGap<double>(Primitive::kFloor, a, b) <= error) ...  // it may step
//   error *= Stretch(Primitive::kLog, a, a_error, 0, 0);

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/number/primitives.h"

namespace assay::reference {

/// How far a is from where a step jumps; infinite for what is no step.
template <class S>
double StepGap(Primitive primitive, const S& a, const S& b) {
  using std::abs, std::floor, std::nearbyint;
  switch (primitive) {
    case Primitive::kFloor:
    case Primitive::kCeil:
    case Primitive::kTrunc:
      return std::abs(ToDouble(S(a - nearbyint(a))));
    case Primitive::kRound:
      return std::abs(ToDouble(S(abs(S(a - floor(a))) - S(0.5))));
    case Primitive::kFmod:
      return std::abs(ToDouble(S(a - b * nearbyint(S(a / b)))));
    default:
      return std::numeric_limits<double>::infinity();
  }
}

/// True when an operation on exact operands has rounded nothing. (A sum by
/// Knuth's TwoSum; a product, quotient and root by the rest in one rounding.)
inline bool IsExact(Primitive primitive, double a, double b, double v) {
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

/// True where a primitive of exact operands is infinite.
inline bool IsPole(Primitive primitive, double a, double b) {
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

/// How much more than to first order an operand's error can do next to a pole
/// or the end of a domain, or where a function grows; infinite where it reaches
/// it.
inline double Stretch(Primitive primitive, double a, double a_error, double b,
                      double b_error) {
  const auto beside = [](double gap, double error) {
    if (error == 0) return 1.0;
    const double share = error / gap;
    return share < 0.5 ? 1 / ((1 - share) * (1 - share))
                       : std::numeric_limits<double>::infinity();
  };
  switch (primitive) {
    case Primitive::kDivide:
      return beside(std::abs(b), b_error);
    case Primitive::kPow:
      // A power of 0 itself changes with the sign of its exponent.
      if (a == 0 && a_error == 0) return beside(std::abs(b), b_error);
      return beside(std::abs(a), a_error * std::max(1.0, std::abs(b)));
    case Primitive::kLog:
    case Primitive::kSqrt:
      return beside(std::abs(a), a_error);
    case Primitive::kLog1p:
      return beside(std::abs(1 + a), a_error);
    case Primitive::kAsin:
    case Primitive::kAcos:
    case Primitive::kAtanh:
      return beside(1 - std::abs(a), a_error);
    case Primitive::kAcosh:
      return beside(a - 1, a_error);
    case Primitive::kTan:
      return beside(std::abs(std::cos(a)), a_error);
    case Primitive::kSin:
    case Primitive::kCos:
      return a_error < 1 ? 1 : std::numeric_limits<double>::infinity();
    case Primitive::kExp:
    case Primitive::kExpm1:
    case Primitive::kSinh:
    case Primitive::kCosh:
      return std::exp(a_error);
    case Primitive::kTanh:
    case Primitive::kAtan:
    case Primitive::kAsinh:
      return std::exp(2 * a_error);  // |f''| is at most 2 |f'|
    case Primitive::kErf:
    case Primitive::kErfc:
      return std::exp((2 * std::abs(a) + a_error) * a_error);
    default:
      return 1;
  }
}

}  // namespace assay::reference
