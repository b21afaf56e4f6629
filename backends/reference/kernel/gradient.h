// SPDX-License-Identifier: Apache-2.0
//
// The parts of a backward run: its tensors as numbers, the scalar that carries
// a derivative, the inputs for what is computed again, and the way through a
// product. Backward kernels compute in double and round once, when a gradient
// is stored; products of float32 stay in float32.
//
//   const Loaded<double> dy(FlowInto(run, op.y));
//   if (dy.data() == nullptr) return OkStatus();   // nothing flows
//   ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
//   for (int64_t i = 0; i < dx.size(); ++i) dx[i] += Flow(dy[i], slope);

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/number/primitives.h"
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

/// The flow into an output of `size` elements; zeros where there is none.
inline Scratch<double> FlowOrZeros(const GradientContext& run, Output output,
                                   int64_t size) {
  const Loaded<double> flows(FlowInto(run, output));
  if (flows.data() == nullptr) {
    return Scratch<double>(static_cast<size_t>(size));
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

/// A number with its derivative along a direction, by the rules of
/// number/primitives.h. So a kernel of one formula has a gradient that is never
/// written out, and at a kink it takes the branch that the formula takes.
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

/// The inputs of a backward run as those of a forward one, for what a kernel
/// computes again. It runs no subgraph, and has no outputs unless a class
/// derived from it does.
class BackwardInputs : public KernelContext {
 public:
  BackwardInputs(const GradientContext& run, int count) {
    for (int i = 0; i < count; ++i) inputs_.push_back(&run.value({i, true}));
  }

  Result<Tensor*> Output(assay::Output output, DType, const Shape&) override {
    return Internal("a backward run asked for output ", output.position);
  }
  Status SetOutput(assay::Output output, assay::Value) override {
    return Internal("a backward run set output ", output.position);
  }
  Result<std::vector<assay::Value>> Run(
      std::string_view attribute, std::span<const assay::Value>) override {
    return Internal("a backward run ran ", attribute);
  }
  Result<std::vector<assay::Value>> Differentiate(
      std::span<const assay::Value>) override {
    return Internal("a backward run differentiated");
  }
  void Save(assay::Value) override {}
  Result<Tensor*> Workspace(DType, const Shape&) override {
    return Internal("a backward kernel asked for a workspace");
  }
};

/// Takes the flow into a Product on to its factors. Where nothing flows, the
/// other factor has no say: 0 * infinity would be NaN.
template <class T>
class FlowThrough {
 public:
  /// `other` is the tensor of the factor that is multiplied with.
  FlowThrough(const SimdLoops<T>* loops, const Loaded<T>& other)
      : loops_(loops),
        is_finite_(std::all_of(other.data(), other.data() + other.size(),
                               [](T x) { return std::isfinite(x); })) {}

  /// `product` is that of the run, a b.
  void ToA(const Product& product, const T* dy, const T* b, T* da) const {
    Add(ForA(product), dy, b, da, /*a_flows=*/true);
  }
  void ToB(const Product& product, const T* a, const T* dy, T* db) const {
    Add(ForB(product), a, dy, db, /*a_flows=*/false);
  }

 private:
  void Add(const Product& p, const T* a, const T* b, T* y, bool a_flows) const {
    if (is_finite_) {
      Accumulate(loops_, p, a, b, y);
      return;
    }
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t t = 0; t < p.inner; ++t) {
        const T left = a[i * p.a.row + t * p.a.column];
        for (int64_t j = 0; j < p.columns; ++j) {
          const T right = b[t * p.b.row + j * p.b.column];
          if ((a_flows ? left : right) == T(0)) continue;
          y[i * p.y.row + j * p.y.column] += T(p.scale) * left * right;
        }
      }
    }
  }

  const SimdLoops<T>* loops_;
  bool is_finite_;
};

}  // namespace assay::reference
