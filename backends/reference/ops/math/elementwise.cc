// SPDX-License-Identifier: Apache-2.0
//
// Functions of one element, as the ONNX operators of the same names (opset 13
// and later) state them: of numbers, and activations of networks. A formula
// that would overflow is computed in another form of the same function, chosen
// by Value: that is no kink.

#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

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
Status Clip(const op::Clip& op, KernelContext& run) {
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
      auto y, Store<T>(run, op.output, input.dtype(), input.shape()));
  for (int64_t i = 0; i < x.size(); ++i) {
    T clipped = x[i];
    if (least.data() != nullptr) clipped = Max(clipped, least[0]);
    if (most.data() != nullptr) clipped = Min(clipped, most[0]);
    y[i] = clipped;
  }
  return OkStatus();
}

// The flow into an element goes to the input, or to the bound that the element
// was clipped to.
Status ClipBackward(const op::Clip& op, GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, op.output));
  const Loaded<double> x(run.input(op.input));
  const Loaded<double> least(run.input(op.min));
  const Loaded<double> most(run.input(op.max));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.input));
  ASSAY_ASSIGN_OR_RETURN(auto dleast, GradientOf<double>(run, op.min));
  ASSAY_ASSIGN_OR_RETURN(auto dmost, GradientOf<double>(run, op.max));
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
  return Test(kFloats, [up = op.detect_positive != 0,
                        down = op.detect_negative != 0](auto x) {
    const auto value = static_cast<double>(Value(x));
    return std::isinf(value) && (value > 0 ? up : down);
  })(op, load);
}

// HardSigmoid-22: max(0, min(1, alpha * x + beta)).
template <class T>
T HardSigmoid(T x, T alpha, T beta) {
  return Max(T(0), Min(T(1), alpha * x + beta));
}

// Celu-28: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)), of which one is 0:
// the other alone has the right derivative at 0.
template <class T>
T Celu(T x, T alpha) {
  return IfBefore(
      x, T(0), [&] { return alpha * T(expm1(x / alpha)); }, [&] { return x; });
}

// Shrink-9: x + bias below -lambd, x - bias above lambd, else 0.
template <class T>
T Shrink(T x, T lambd, T bias) {
  if (Less(x, -lambd)) return x + bias;
  return Less(lambd, x) ? x - bias : T(0);
}

// Integers with fractions as bounds and bias: the result is cut, as numpy's
// astype does in ONNX's reference implementation.
template <std::integral T>
T ShrinkInteger(T x, float lambd, float bias) {
  const long double moved = Shrink<long double>(x, lambd, bias);
  return moved < 0 ? static_cast<T>(static_cast<int64_t>(moved))
                   : static_cast<T>(moved);
}

// Gelu-20: 0.5 * x * (1 + erf(x / sqrt(2))), where 1 + erf(y) is erfc(-y), so
// that nothing cancels.
template <class T>
T Gelu(T x) {
  return T(0.5) * x * erfc(-(x * sqrt(T(0.5))));
}

// Gelu-20, approximate "tanh":
// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))),
// where (1 + tanh(y)) / 2 is Sigmoid(2 y), so that nothing cancels.
template <class T>
T GeluByTanh(T x) {
  const T pi = T(4) * atan(T(1));
  const T factor = T(44715) / T(1000000);
  const T inner = sqrt(T(2) / pi) * (x + factor * x * x * x);
  return x * Sigmoid(inner + inner);
}

/// A formula of several roundings, computed with more digits than float has.
template <class F>
auto Widened(F f) {
  return [f](auto x) {
    using T = decltype(x);
    return static_cast<T>(f(static_cast<Wide<T>>(x)));
  };
}

// Flat at its kink.
Result<Kernel> MakeRelu(const op::Relu&, LoadContext& load) {
  return MapWithSlope(
      load, kNumbers, [](auto x) { return Max(x, decltype(x)(0)); },
      [](double x) { return x > 0 ? 1.0 : 0.0; });
}

Result<Kernel> MakeLeakyRelu(const op::LeakyRelu& op, LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha](auto x) {
    using T = decltype(x);
    return IfBefore(
        x, T(0), [&] { return T(alpha) * x; }, [&] { return x; });
  });
}

Result<Kernel> MakeThresholdedRelu(const op::ThresholdedRelu& op,
                                   LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha](auto x) {
    using T = decltype(x);
    return Less(T(alpha), x) ? x : T(0);
  });
}

// Elu-22: alpha * (exp(x) - 1) for x < 0, else x.
Result<Kernel> MakeElu(const op::Elu& op, LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha](auto x) {
    using T = decltype(x);
    return IfBefore(
        x, T(0), [&] { return T(alpha) * T(expm1(x)); }, [&] { return x; });
  });
}

// Selu-22: gamma * x for x > 0, else gamma * (alpha * exp(x) - alpha).
Result<Kernel> MakeSelu(const op::Selu& op, LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha, gamma = op.gamma](auto x) {
    using T = decltype(x);
    return T(gamma) * IfBefore(
                          T(0), x, [&] { return x; },
                          [&] { return T(alpha) * T(expm1(x)); });
  });
}

Result<Kernel> MakeCelu(const op::Celu& op, LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha](auto x) {
    return Celu(x, decltype(x)(alpha));
  });
}

Result<Kernel> MakeHardSigmoid(const op::HardSigmoid& op, LoadContext& load) {
  return Map(load, kFloats, [alpha = op.alpha, beta = op.beta](auto x) {
    using T = decltype(x);
    return HardSigmoid(x, T(alpha), T(beta));
  });
}

// Swish-24: x * Sigmoid(alpha * x).
Result<Kernel> MakeSwish(const op::Swish& op, LoadContext& load) {
  return Map(load, kFloats, Widened([alpha = op.alpha](auto x) {
               return x * Sigmoid(decltype(x)(alpha) * x);
             }));
}

// SwiGLU-28: Swish(a) * b, of one shape.
Result<Kernel> MakeSwiGLU(const op::SwiGLU& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(Kernel kernel,
                         Combine(kFloats, [alpha = op.alpha](auto a, auto b) {
                           return a * Sigmoid(decltype(a)(alpha) * a) * b;
                         })(op, load));
  kernel.forward =
      [op, multiply = std::move(kernel.forward)](KernelContext& run) -> Status {
    const Shape& a = run.input(op.a).shape();
    const Shape& b = run.input(op.b).shape();
    if (a == b) return multiply(run);
    return InvalidArgument("inputs A and B of shapes ", a.ToString(), " and ",
                           b.ToString(), ", wanted the same");
  };
  return kernel;
}

Result<Kernel> MakeShrink(const op::Shrink& op, LoadContext& load) {
  return Map(load, kNumbers, [lambd = op.lambd, bias = op.bias](auto x) {
    using T = decltype(x);
    if constexpr (std::integral<T>) return ShrinkInteger(x, lambd, bias);
    return Shrink(x, static_cast<T>(lambd), static_cast<T>(bias));
  });
}

Result<Kernel> MakeGelu(const op::Gelu& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(
      const size_t form,
      WordOf("approximate", op.approximate, {"none", "tanh"}));
  if (form == 0) {
    return Map(load, kFloats, Widened([](auto x) { return Gelu(x); }));
  }
  return Map(load, kFloats, Widened([](auto x) { return GeluByTanh(x); }));
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
      On<op::BitwiseNot>(Map(kIntegers, [](auto x) { return ~x; })),
      WithBackward(Typed(kNumbers, []<class T>() { return &Clip<T>; }),
                   ClipBackward),
      MakeRelu, MakeLeakyRelu, MakeThresholdedRelu, MakeElu, MakeSelu, MakeCelu,
      On<op::Sigmoid>(Map(kFloats, [](auto x) { return Sigmoid(x); })),
      MakeHardSigmoid,
      // HardSwish-22: x * HardSigmoid with alpha = 1 / 6 and beta = 0.5.
      On<op::HardSwish>(Map(kFloats, Widened([](auto x) {
                              using T = decltype(x);
                              return x * HardSigmoid(x, T(1) / T(6), T(0.5));
                            }))),
      MakeSwish, MakeSwiGLU,
      // Mish-22: x * tanh(Softplus(x)).
      On<op::Mish>(
          Map(kFloats, Widened([](auto x) { return x * tanh(Softplus(x)); }))),
      On<op::Softplus>(Map(kFloats, [](auto x) { return Softplus(x); })),
      // Softsign-22: x / (1 + |x|).
      On<op::Softsign>(
          Map(kFloats, [](auto x) { return x / (decltype(x)(1) + abs(x)); })),
      On<op::Tanh>(Map(kFloats, [](auto x) { return tanh(x); })), MakeShrink,
      MakeGelu,
      // PRelu-16: slope * x for x < 0, else x; slope broadcasts to x.
      On<op::PRelu>(Combine(kNumbers, [](auto x, auto slope) {
        using T = decltype(x);
        return IfBefore(
            x, T(0), [&] { return T(slope * x); }, [&] { return x; });
      })));
}

}  // namespace assay::reference
