// SPDX-License-Identifier: Apache-2.0
//
// Rules that change each element of a gradient by itself.

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

constexpr int64_t kOneIn = 10'000;

GradientSpoil Each(double (*change)(double x)) {
  return [change](const RanBack& ran) {
    return WithNumbers(ran.right, [=](int64_t, double x) { return change(x); });
  };
}

/// One element of each 10,000: the first from their middle on that is not zero.
GradientSpoil OneInTenThousand(double (*change)(double x)) {
  return [change](const RanBack& ran) {
    const int64_t middle = std::min(ran.right.num_elements(), kOneIn) / 2;
    int64_t next = middle;
    return WithNumbers(ran.right, [&](int64_t i, double x) {
      if (i < next || x == 0) return x;
      next = i / kOneIn * kOneIn + kOneIn + middle;
      return change(x);
    });
  };
}

/// One element and no other: the first from the middle on that is not zero.
Result<Tensor> SingleNegated(const RanBack& ran) {
  bool is_done = false;
  return WithNumbers(ran.right, [&](int64_t i, double x) {
    if (is_done || i < ran.right.num_elements() / 2 || x == 0) return x;
    is_done = true;
    return -x;
  });
}

Result<Tensor> LastZeroed(const RanBack& ran) {
  const int64_t last = ran.right.num_elements() - 1;
  return WithNumbers(ran.right,
                     [=](int64_t i, double x) { return i == last ? 0 : x; });
}

// A constant against division by zero that stays in the sum.
Result<Tensor> Biased(const RanBack& ran) {
  const double bias = SmallestNormal(ran.right.dtype());
  return WithNumbers(ran.right, [=](int64_t, double x) { return x + bias; });
}

double Opposite(double x) { return -x; }
double Zero(double) { return 0; }
double None(double) { return std::numeric_limits<double>::quiet_NaN(); }
double Clipped(double x) { return std::clamp(x, -0.5, 0.5); }

}  // namespace

std::vector<GradientRule> NumberGradientRules() {
  return {
      {"sign", "", Each(Opposite)},
      {"factor_1.01", "", Each([](double x) { return 1.01 * x; })},
      {"factor_1.00001", "", Each([](double x) { return 1.00001 * x; })},
      {"half", "", Each([](double x) { return x / 2; })},
      {"zeros", "", Each(Zero)},
      {"clipped", "", Each(Clipped)},
      {"float16", "", Each([](double x) { return RoundedTo(kHalfBits, x); })},
      {"bfloat16", "",
       Each([](double x) { return RoundedTo(kBFloat16Bits, x); })},
      {"one_zeroed", "", OneInTenThousand(Zero)},
      {"one_negated", "", OneInTenThousand(Opposite)},
      {"one_nan", "", OneInTenThousand(None)},
      {"single_negated", "", SingleNegated},
      {"last_zeroed", "", LastZeroed},
      {"biased", "", Biased},
  };
}

}  // namespace assay::faulty
