// SPDX-License-Identifier: Apache-2.0
//
// Rules that change each element of a gradient by itself, or put it elsewhere.

#include <algorithm>
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

// The last two extents: what a row is taken for a column.
Result<Tensor> Transposed2(const RanBack& ran) {
  const Shape& shape = ran.right.shape();
  if (shape.rank() < 2) return ran.right;
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t area = rows * columns;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < ran.right.num_elements(); ++i) {
    const int64_t k = i % area;
    places.push_back(i - k + k % rows * columns + k / rows);
  }
  return Picked(ran.right, shape, places);
}

/// The last axis that is longer than one: its extent and its stride.
struct Axis {
  int64_t extent = 1, stride = 1;
};

Axis LastLongAxis(const Shape& shape) {
  Axis axis;
  for (int i = shape.rank(); i-- > 0 && axis.extent == 1;) {
    axis.stride *= axis.extent;
    axis.extent = shape[i];
  }
  return axis;
}

// A window that begins one element late.
Result<Tensor> Shifted(const RanBack& ran) {
  const Axis axis = LastLongAxis(ran.right.shape());
  const std::vector<double> right = Numbers(ran.right);
  return WithNumbers(ran.right, [&](int64_t i, double) {
    const bool first = i / axis.stride % axis.extent == 0;
    return first ? 0 : right[static_cast<size_t>(i - axis.stride)];
  });
}

Result<Tensor> Reversed(const RanBack& ran) {
  std::vector<int64_t> places;
  for (int64_t i = ran.right.num_elements(); i-- > 0;) places.push_back(i);
  return Picked(ran.right, ran.right.shape(), places);
}

}  // namespace

std::vector<GradientRule> ElementGradientRules() {
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
      {"transposed", "", Transposed2},
      {"shifted", "", Shifted},
      {"reversed", "", Reversed},
  };
}

}  // namespace assay::faulty
