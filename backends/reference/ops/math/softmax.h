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

// The shift cancels in the result, so that no derivative flows through it.
template <class T>
T GreatestOfLine(const T* x, int64_t count, int64_t step) {
  Choose<T> greatest;
  for (int64_t i = 0; i < count; ++i) greatest.Offer(Detach(x[i * step]), i);
  return greatest.best();
}

// LogSoftmax-13: log(Softmax(x)).
template <class T>
void LogSoftmax(const T* x, T* y, int64_t count, int64_t step) {
  const T greatest = GreatestOfLine(x, count, step);
  T sum(0);
  for (int64_t i = 0; i < count; ++i) sum += exp(x[i * step] - greatest);
  // In this order nothing is lost where x is much greater than its result.
  const T rest = log(sum);
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = (x[i * step] - greatest) - rest;
  }
}

}  // namespace assay::reference
