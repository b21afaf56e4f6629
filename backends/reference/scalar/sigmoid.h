// SPDX-License-Identifier: Apache-2.0
//
// Sigmoid and Softplus, which activations, gates and recurrent cells have in
// common.
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

/// Softplus-22: log(exp(x) + 1), in the form that does not overflow.
template <class T>
T Softplus(T x) {
  return Value(x) > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

}  // namespace assay::reference
