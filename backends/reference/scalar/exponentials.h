// SPDX-License-Identifier: Apache-2.0
//
// Functions of exponentials in forms that neither overflow nor cancel: Sigmoid
// and Softplus of activations, gates and recurrent cells; log(sum of exp(x)) of
// a line of numbers, `step` apart, and its derivatives, Softmax, of reductions,
// LogSoftmax and losses.
//
//   const int64_t place = PlaceOfGreatest(x, count, step);
//   const T rest = LogOfSum(x, count, step, place, Detach(x[place * step]));

#pragma once

#include <cstdint>

#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

/// Sigmoid-13: 1 / (1 + exp(-x)), in the form that does not overflow.
template <class T>
T Sigmoid(T x) {
  const T one(1);
  if (Value(x) >= 0) return one / (one + exp(-x));
  const T e = exp(x);
  return e / (one + e);
}

/// Softplus-22: log(exp(x) + 1), in the form that does not overflow.
template <class T>
T Softplus(T x) {
  return Value(x) > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/// Where the greatest of a line stands; 0 in an empty one. As a shift it
/// cancels in the result: so it is chosen by Value.
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

/// Softmax-13: exp(x) / sum of exp(x), into a line y that lies like x.
template <class T>
void Softmax(const T* x, T* y, int64_t count, int64_t step) {
  if (count == 0) return;
  const T greatest = Detach(x[PlaceOfGreatest(x, count, step) * step]);
  T sum(0);
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = exp(x[i * step] - greatest);
    sum += y[i * step];
  }
  for (int64_t i = 0; i < count; ++i) y[i * step] = y[i * step] / sum;
}

}  // namespace assay::reference
