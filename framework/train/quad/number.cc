// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/number.h"

#include <algorithm>
#include <limits>

namespace assay::quad {
namespace {

/// The least normal number of float32 or float64: an operation may flush what
/// lies below.
double LeastOf(double roundoff) {
  return roundoff > 0x1p-50 ? 0x1p-126 : 0x1p-1022;
}

}  // namespace

Quad Quad::Of(double number, double roundoff) {
  Quad made(number);
  made.roundoff = roundoff;
  return made;
}

Quad Quad::Rounded(Float128 value, double error, double roundoff) {
  Quad made(value);
  if (roundoff == 0) return made;
  made.roundoff = roundoff;
  made.error = error + roundoff * Size(value) + LeastOf(roundoff);
  return made;
}

double Quad::ErrorAt(double of_type) const {
  return roundoff == 0 ? of_type * Size(value) : error;
}

double LimitOf(const Quad& x) { return kOrders * x.error; }

Quad operator-(const Quad& a) {
  Quad negated = a;
  negated.value = -a.value;
  return negated;
}

Quad operator+(const Quad& a, const Quad& b) {
  const double type = std::max(a.roundoff, b.roundoff);
  if (type == 0) return a.value + b.value;
  return Quad::Rounded(a.value + b.value, a.ErrorAt(type) + b.ErrorAt(type),
                       type);
}

Quad operator-(const Quad& a, const Quad& b) { return a + -b; }

Quad operator*(const Quad& a, const Quad& b) {
  const double type = std::max(a.roundoff, b.roundoff);
  if (type == 0) return a.value * b.value;
  const double of_a = a.ErrorAt(type);
  const double of_b = b.ErrorAt(type);
  return Quad::Rounded(
      a.value * b.value,
      Size(a.value) * of_b + Size(b.value) * of_a + of_a * of_b, type);
}

Quad operator/(const Quad& a, const Quad& b) {
  const double type = std::max(a.roundoff, b.roundoff);
  const Float128 ratio = a.value / b.value;
  if (type == 0) return ratio;
  const double of_b = b.ErrorAt(type);
  const double least = Size(b.value) - of_b;  // of the divisor
  const double off = least > 0 ? (a.ErrorAt(type) + Size(ratio) * of_b) / least
                               : std::numeric_limits<double>::infinity();
  return Quad::Rounded(ratio, off, type);
}

Quad Max(const Quad& a, const Quad& b) {
  const double type = std::max(a.roundoff, b.roundoff);
  Quad greater = a < b ? b : a;
  const Quad& other = a < b ? a : b;
  if (type == 0) return greater;
  const double reach = other.ErrorAt(type) - Size(greater.value - other.value);
  greater.error = std::max(greater.ErrorAt(type), reach);
  greater.roundoff = type;
  return greater;
}

Quad Min(const Quad& a, const Quad& b) { return -Max(-a, -b); }

// Newton's iteration r = r + (a - r^2) / (2 r) from the root in double, which
// doubles the right digits each time: 53, 106, 113. A correction has few of
// them, so that its quotient is one of double. Powers of 4 bring `a` into the
// range of double, exactly.
Float128 RootOf(Float128 a) {
  constexpr double kFar = 0x1p1000;
  if (a == 0 || a == std::numeric_limits<double>::infinity()) return a;
  if (!(a > 0)) return std::numeric_limits<double>::quiet_NaN();
  Float128 unscaled = 1;
  for (; a > kFar; a /= kFar) unscaled *= 0x1p500;
  for (; a < 1 / kFar; a *= kFar) unscaled /= 0x1p500;
  const double near = std::sqrt(static_cast<double>(a));
  Float128 r = near;
  for (int i = 0; i < 2; ++i) {
    r += static_cast<double>(a - r * r) / (2 * near);
  }
  return r * unscaled;
}

Quad Root(const Quad& a) {
  const Float128 root = RootOf(a.value);
  if (a.error == 0) return Quad::Rounded(root, 0, a.roundoff);
  // A root is steep near 0, and nothing lies below.
  const auto near = static_cast<double>(a.value);
  const double least = std::max(near - a.error, 0.0);
  const double of_near = std::sqrt(near);
  const double down = (near - least) / (of_near + std::sqrt(least));
  const double up = a.error / (of_near + std::sqrt(near + a.error));
  return Quad::Rounded(root, near > 0 ? std::max(down, up) : up, a.roundoff);
}

Quad Power(Quad base, int64_t exponent) {
  Quad power = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) power *= base;
  }
  return power;
}

Quad SumOfSquares(const QuadTensor& tensor) {
  Float128 sum = 0;
  double error = 0;
  double roundoff = 0;
  for (const Quad& x : tensor) {
    sum += x.value * x.value;
    error += (2 * Size(x.value) + x.error) * x.error;
    roundoff = std::max(roundoff, x.roundoff);
  }
  error += std::sqrt(static_cast<double>(tensor.size())) * roundoff * Size(sum);
  return Quad::Rounded(sum, error, roundoff);
}

}  // namespace assay::quad
