// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, as the ONNX operators of the same names (opset 16 to
// 28) state them. A formula that would overflow is computed in another form
// of the same function, chosen by Value: that is no kink.

#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/scalar/sigmoid.h"

namespace assay::reference {
namespace {

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
  ASSAY_ASSIGN_OR_RETURN(
      Kernel kernel, Combine(load, kFloats, [alpha = op.alpha](auto a, auto b) {
        return a * Sigmoid(decltype(a)(alpha) * a) * b;
      }));
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
  if (op.approximate == "none") {
    return Map(load, kFloats, Widened([](auto x) { return Gelu(x); }));
  }
  if (op.approximate == "tanh") {
    return Map(load, kFloats, Widened([](auto x) { return GeluByTanh(x); }));
  }
  return InvalidArgument("approximate is '", op.approximate,
                         "', wanted none or tanh");
}

}  // namespace

Family ActivationFamily() {
  return FamilyOf(
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
