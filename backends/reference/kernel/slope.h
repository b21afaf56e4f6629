// SPDX-License-Identifier: Apache-2.0
//
// Slope: the scalar that kernels compute derivatives in: a number with its
// derivative along a direction, by the rules of number/primitives.h. So a kernel
// of one formula has a gradient that is never written out, and at a kink it
// takes the branch that the formula takes.
//
//   const auto square = [](auto x) { return x * x; };
//   const Slope at_half = square(Slope(0.5, 1));
//   at_half.tangent;  // 1

#pragma once

#include "backends/reference/number/lifted.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

using Slope = Dual<double>;

// The vocabulary of scalar.h.
inline double Value(const Slope& x) { return x.value; }
inline Slope Detach(const Slope& x) { return Slope(x.value); }
inline bool Before(const Slope& a, const Slope& b) { return a.value < b.value; }
inline bool Less(const Slope& a, const Slope& b) { return a.value < b.value; }
inline bool Equal(const Slope& a, const Slope& b) { return a.value == b.value; }
template <class Then, class Otherwise>
Slope IfBefore(const Slope& a, const Slope& b, const Then& then,
               const Otherwise& otherwise) {
  return a.value < b.value ? then() : otherwise();
}

}  // namespace assay::reference
