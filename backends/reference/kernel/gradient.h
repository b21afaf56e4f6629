// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a backward run, as numbers. Backward kernels compute in double
// and round once, when a gradient is stored; products of float32 stay in
// float32.
//
//   const Loaded<double> dy(FlowInto(run, op.y));
//   if (dy.data() == nullptr) return OkStatus();   // nothing flows
//   ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, op.x));
//   for (int64_t i = 0; i < dx.size(); ++i) dx[i] += Flow(dy[i], slope);

#pragma once

#include <vector>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// The cotangent of an output; the empty tensor where nothing flows into it.
inline const Tensor& FlowInto(const GradientContext& run, Output output) {
  static const Tensor kNothing;
  const Tensor* const cotangent = run.cotangent(output);
  return cotangent == nullptr ? kNothing : *cotangent;
}

/// What flows into an output of so many elements; zeros where nothing does.
inline std::vector<double> FlowOrZeros(const GradientContext& run,
                                       Output output, int64_t size) {
  const Loaded<double> flows(FlowInto(run, output));
  if (flows.data() == nullptr) {
    return std::vector<double>(static_cast<size_t>(size));
  }
  return {flows.data(), flows.data() + flows.size()};
}

/// The gradient of an input, zeros to be added to, to be asked for once; null,
/// of size 0, where it is not wanted.
template <class T>
Result<Stored<T>> GradientOf(GradientContext& run, Input input) {
  if (!run.wanted(input)) return Stored<T>(nullptr);
  ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(input));
  return Stored<T>(gradient);
}

/// The share of a flow that goes on by a derivative. Neither a flow nor a
/// derivative of 0 counts, also against the infinite and what is no number.
template <class T>
T Flow(T flow, T slope) {
  return flow == T(0) || slope == T(0) ? T(0) : flow * slope;
}

/// True when something flows into a line of numbers, `step` apart.
inline bool AnyFlow(const double* flows, int64_t count, int64_t step) {
  for (int64_t i = 0; i < count; ++i) {
    if (flows[i * step] != 0) return true;
  }
  return false;
}

/// True where Max(a, b), or Min(a, b), is b; of numbers that are none the first
/// stays.
inline bool PicksGreater(double a, double b) {
  return a < b || (IsNan(b) && !IsNan(a));
}
inline bool PicksSmaller(double a, double b) {
  return b < a || (IsNan(b) && !IsNan(a));
}

}  // namespace assay::reference
