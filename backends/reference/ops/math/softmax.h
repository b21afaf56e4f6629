// SPDX-License-Identifier: Apache-2.0
//
// Softmax, LogSoftmax and the losses made of them, over one line of
// numbers: `count` elements, `step` apart.
//
//   LogSoftmax(x, y, count, step);  // y may be x

#pragma once

#include <cstdint>

#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

/// Where the greatest of a line stands; 0 in an empty one. As a shift it cancels
/// in the result: so it is chosen by Value.
template <class T>
int64_t PlaceOfGreatest(const T* x, int64_t count, int64_t step) {
  int64_t place = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (Value(x[i * step]) > Value(x[place * step])) place = i;
  }
  return place;
}

/// log(sum of exp(x - shift)), where shift is x[place] or, if that is infinite,
/// 0: near 0 nothing cancels where that x is much the greatest.
template <class T>
T LogOfSum(const T* x, int64_t count, int64_t step, int64_t place, T shift) {
  T sum(0);  // less 1
  for (int64_t i = 0; i < count; ++i) {
    const T moved = x[i * step] - shift;
    sum += i == place ? T(expm1(moved)) : T(exp(moved));
  }
  return log1p(sum);
}

// LogSoftmax-13: log(Softmax(x)).
template <class T>
void LogSoftmax(const T* x, T* y, int64_t count, int64_t step) {
  if (count == 0) return;
  const int64_t place = PlaceOfGreatest(x, count, step);
  const T shift = Detach(x[place * step]);
  const T rest = LogOfSum(x, count, step, place, shift);
  // In this order nothing is lost where x is much greater than its result.
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = (x[i * step] - shift) - rest;
  }
}

}  // namespace assay::reference
