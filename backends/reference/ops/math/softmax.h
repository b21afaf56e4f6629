// SPDX-License-Identifier: Apache-2.0
//
// Softmax, LogSoftmax and the losses made of them, over one line of
// numbers: `count` elements, `step` apart.
//
//   LogSoftmax(x, y, count, step);  // y may be x

#pragma once

#include <cstdint>

#include "backends/reference/scalar/log_sum.h"
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

}  // namespace assay::reference
