// SPDX-License-Identifier: Apache-2.0
//
// Sigmoid, which activations, gates and recurrent cells have in common.
//
//   const T y = x * Sigmoid(x);  // Swish

#pragma once

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

}  // namespace assay::reference
