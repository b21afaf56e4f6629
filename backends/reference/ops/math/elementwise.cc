// SPDX-License-Identifier: Apache-2.0
//
// Functions of one element, as the ONNX operators of the same names (opset 13,
// 22 and later) state them.

#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// Sign-13: -1, 0 or 1; zeros and NaN stay what they are, and no derivative
// flows through, as through no step.
template <class T>
T Sign(T x) {
  if (Less(x, T(0))) return -T(1);
  return Less(T(0), x) ? T(1) : Detach(x);
}

// Clip-13: "Min(max, Max(input, min))", so that max wins when min > max.
template <class T>
Kernel ClipKernel(const op::Clip& op) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& input = run.input(op.input);
    const Loaded<T> x(input);
    const Loaded<T> least(run.input(op.min));
    const Loaded<T> most(run.input(op.max));
    for (const Loaded<T>* bound : {&least, &most}) {
      if (bound->data() != nullptr && bound->size() != 1) {
        return InvalidArgument("a bound has ", bound->size(),
                               " elements, wanted a scalar");
      }
    }
    ASSAY_ASSIGN_OR_RETURN(
        Stored<T> y, Store<T>(run, op.output, input.dtype(), input.shape()));
    for (int64_t i = 0; i < x.size(); ++i) {
      T clipped = x[i];
      if (least.data() != nullptr) clipped = Max(clipped, least[0]);
      if (most.data() != nullptr) clipped = Min(clipped, most[0]);
      y[i] = clipped;
    }
    return OkStatus();
  }};
}

// What flows into an element goes to the input, or to the bound that it was
// clipped to.
Status ClipBackward(const op::Clip& op, GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, op.output));
  const Loaded<double> x(run.input(op.input));
  const Loaded<double> least(run.input(op.min));
  const Loaded<double> most(run.input(op.max));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, op.input));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dleast,
                         GradientOf<double>(run, op.min));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dmost, GradientOf<double>(run, op.max));
  for (int64_t i = 0; i < dy.size(); ++i) {
    double clipped = x[i];
    double* to = dx.data() == nullptr ? nullptr : dx.data() + i;
    const auto pass = [&](double bound, double* of_bound) {
      clipped = bound;
      to = of_bound;
    };
    if (least.data() != nullptr && PicksGreater(clipped, least[0])) {
      pass(least[0], dleast.data());
    }
    if (most.data() != nullptr && PicksSmaller(clipped, most[0])) {
      pass(most[0], dmost.data());
    }
    if (to != nullptr) *to += dy[i];
  }
  return OkStatus();
}

Result<Kernel> MakeIsInf(const op::IsInf& op, LoadContext& load) {
  return Test(
      load, kFloats,
      [up = op.detect_positive != 0, down = op.detect_negative != 0](auto x) {
        const auto value = static_cast<double>(Value(x));
        return std::isinf(value) && (value > 0 ? up : down);
      });
}

Result<Kernel> MakeClip(const op::Clip& op, LoadContext& load) {
  return Dispatch(load, op.input, kNumbers, [&]<class T>() {
    Kernel kernel = ClipKernel<T>(op);
    if constexpr (std::floating_point<T>) {
      kernel.backward = std::bind_front(&ClipBackward, op);
    }
    return kernel;
  });
}

}  // namespace

Family ElementwiseFamily() {
  return FamilyOf(
      On<op::Abs>(Map(kNumbers, [](auto x) { return abs(x); })),
      On<op::Neg>(Map(kNumbers, [](auto x) { return -x; })),
      On<op::Sign>(Map(kNumbers, [](auto x) { return Sign(x); })),
      On<op::Floor>(Map(kFloats, [](auto x) { return floor(x); })),
      On<op::Ceil>(Map(kFloats, [](auto x) { return ceil(x); })),
      // Round-22: halves go to the nearest even integer.
      On<op::Round>(Map(kFloats, [](auto x) { return nearbyint(x); })),
      On<op::Reciprocal>(
          Map(kFloats, [](auto x) { return decltype(x)(1) / x; })),
      On<op::Sqrt>(Map(kFloats, [](auto x) { return sqrt(x); })),
      On<op::Exp>(Map(kFloats, [](auto x) { return exp(x); })),
      On<op::Log>(Map(kFloats, [](auto x) { return log(x); })),
      On<op::Erf>(Map(kFloats, [](auto x) { return erf(x); })),
      On<op::Sin>(Map(kFloats, [](auto x) { return sin(x); })),
      On<op::Cos>(Map(kFloats, [](auto x) { return cos(x); })),
      On<op::Tan>(Map(kFloats, [](auto x) { return tan(x); })),
      On<op::Asin>(Map(kFloats, [](auto x) { return asin(x); })),
      On<op::Acos>(Map(kFloats, [](auto x) { return acos(x); })),
      On<op::Atan>(Map(kFloats, [](auto x) { return atan(x); })),
      On<op::Sinh>(Map(kFloats, [](auto x) { return sinh(x); })),
      On<op::Cosh>(Map(kFloats, [](auto x) { return cosh(x); })),
      On<op::Asinh>(Map(kFloats, [](auto x) { return asinh(x); })),
      On<op::Acosh>(Map(kFloats, [](auto x) { return acosh(x); })),
      On<op::Atanh>(Map(kFloats, [](auto x) { return atanh(x); })),
      On<op::IsNaN>(Test(kFloats, [](auto x) { return IsNan(x); })), MakeIsInf,
      On<op::Not>(Test(kIntegers, [](auto x) { return x == decltype(x)(0); })),
      On<op::BitwiseNot>(Map(kIntegers, [](auto x) { return ~x; })), MakeClip);
}

}  // namespace assay::reference
