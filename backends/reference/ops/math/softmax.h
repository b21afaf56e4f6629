// SPDX-License-Identifier: Apache-2.0
//
// Softmax, LogSoftmax and the losses made of them, over one line of
// numbers: `count` elements, `step` apart.

#pragma once

#include <cstdint>

#include "backends/reference/kernel/gradient.h"
#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

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

/// dx = dy - Softmax(x) * sum of dy; dx is neither x nor dy.
inline void LogSoftmaxBackward(const double* x, const double* dy, double* dx,
                               int64_t count, int64_t step) {
  Softmax(x, dx, count, step);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += dy[i * step];
  for (int64_t i = 0; i < count; ++i) {
    dx[i * step] = dy[i * step] - Flow(sum, dx[i * step]);
  }
}

}  // namespace assay::reference
