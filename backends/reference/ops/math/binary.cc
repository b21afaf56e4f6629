// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of two or more inputs with ONNX's multidirectional broadcasting.
// Integers wrap to their width.

#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// Div-14: "(Opset 14 change): integer division truncates"; what it leaves open
// is fixed so that it does not trap: x / 0 is 0, the lowest / -1 wraps.
template <class T>
T Quotient(T a, T b) {
  if constexpr (std::integral<T>) {
    if (b == 0) return 0;
    if (std::signed_integral<T> && b == static_cast<T>(-1)) return -a;
  }
  return a / b;
}

// Mod-28: with fmod the sign of the dividend (C's fmod), else that of the
// divisor, also of a zero. An integer modulo 0 is 0.
template <class T>
T Modulo(T a, T b, bool like_fmod) {
  if constexpr (std::integral<T>) {
    if (b == 0 || (std::signed_integral<T> && b == static_cast<T>(-1))) {
      return 0;
    }
    const T rest = a % b;
    const bool crosses = rest != 0 && ((rest < 0) != (b < 0));
    return !like_fmod && crosses ? rest + b : rest;
  } else {
    const T rest = fmod(a, b);
    if (like_fmod || IsNan(rest)) return rest;
    if (Value(rest) == 0) return Value(b) < 0 ? -T(0) : T(0);
    return (Value(rest) < 0) != (Value(b) < 0) ? rest + b : rest;
  }
}

// Pow-15 of integers, by squaring; a negative exponent truncates 1 / x^|y|.
template <class T>
T IntegerPower(T base, T exponent) {
  if (std::signed_integral<T> && exponent < 0) {
    if (base == 1) return 1;
    if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? 1 : base;
    return 0;
  }
  T power = 1;
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power *= base;
    base *= base;
  }
  return power;
}

// BitShift-28: a right shift of a signed integer keeps its sign; a negative
// shift, or one by the width or more, leaves nothing but that sign.
template <class T>
T Shift(T x, T by, bool left) {
  const bool beyond = by < 0 || by >= 64;
  if (left) {
    return beyond ? 0 : static_cast<T>(static_cast<uint64_t>(x) << by);
  }
  if (beyond) return x < 0 ? static_cast<T>(-1) : 0;
  return x >> by;
}

// Max-13, Min-13, Sum-13, Mean-13: a fold from the left over one to many
// inputs; for a mean divided by their number.
template <class T>
Kernel FoldKernel(VariadicInput inputs, bool is_mean, const PairLoop<T>& step) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& first = run.input(inputs[0]);
    Shape shape = first.shape();
    for (int k = 1; k < inputs.count; ++k) {
      ASSAY_ASSIGN_OR_RETURN(shape,
                             Broadcast(shape, run.input(inputs[k]).shape()));
    }
    ASSAY_ASSIGN_OR_RETURN(auto y,
                           Store<T>(run, kResult, first.dtype(), shape));
    const Strides dense = DenseStrides(shape);
    const PairLoop<T> copy = PairLoopOf<T, T>([](T, T next) { return next; });
    for (int k = 0; k < inputs.count; ++k) {
      const Tensor& next = run.input(inputs[k]);
      const Loaded<T> x(next);
      const Nest<3> nest(shape,
                         {dense, BroadcastStrides(next.shape(), shape), dense});
      (k == 0 ? copy : step)(nest, y.data(), x.data(), y.data());
    }
    if (is_mean) {
      const T count = static_cast<T>(inputs.count);
      for (int64_t i = 0; i < y.size(); ++i) y[i] = y[i] / count;
    }
    return OkStatus();
  }};
}

/// Pairs every element of y with the one of x that it was folded from.
Nest<2> FoldNest(const Shape& x, const Shape& y) {
  return Nest<2>(y, {BroadcastStrides(x, y), DenseStrides(y)});
}

/// Which input each element of y was taken from by a fold that picks: `picks`
/// is true where its second operand is picked.
Scratch<int> Picked(VariadicInput inputs, const Shape& shape, int64_t count,
                    const GradientContext& run, bool (*picks)(double, double)) {
  Scratch<int> picked(static_cast<size_t>(count), 0);
  Scratch<double> best(static_cast<size_t>(count));
  for (int k = 0; k < inputs.count; ++k) {
    const Tensor& input = run.input(inputs[k]);
    const Loaded<double> x(input);
    FoldNest(input.shape(), shape).ForEach([&](int64_t from, int64_t at) {
      const auto i = static_cast<size_t>(at);
      if (k > 0 && !picks(best[i], x[from])) return;
      best[i] = x[from];
      picked[i] = k;
    });
  }
  return picked;
}

/// The flow into a fold goes to the input that it picked or, without `picks`,
/// divided by `divisor` to each.
Status FoldBackward(VariadicInput inputs, int divisor,
                    bool (*picks)(double, double), GradientContext& run) {
  const Tensor& cotangent = FlowInto(run, kResult);
  const Loaded<double> dy(cotangent);
  if (dy.data() == nullptr) return OkStatus();
  const Shape& shape = cotangent.shape();
  Scratch<int> picked;
  if (picks != nullptr) {
    picked = Picked(inputs, shape, dy.size(), run, picks);
  }
  for (int k = 0; k < inputs.count; ++k) {
    ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, inputs[k]));
    if (dx.data() == nullptr) continue;
    const Nest<2> nest = FoldNest(run.input(inputs[k]).shape(), shape);
    nest.ForEach([&](int64_t to, int64_t at) {
      if (!picked.empty() && picked[static_cast<size_t>(at)] != k) return;
      dx[to] += dy[at] / divisor;
    });
  }
  return OkStatus();
}

/// A row of an operator that folds its inputs. `picks(a, b)` is true where the
/// fold of a and b is b; null where it is a sum.
template <class Op, class... Ts, class Step>
auto Folded(const Scalars<Ts...>& scalars, Step step,
            bool (*picks)(double, double), bool is_mean = false) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    return Dispatch(load, kFirst, scalars, [&]<class T>() {
      Kernel kernel = FoldKernel<T>(op.data_0, is_mean, PairLoopOf<T, T>(step));
      if constexpr (std::floating_point<T>) {
        kernel.backward = std::bind_front(&FoldBackward, op.data_0,
                                          is_mean ? op.data_0.count : 1, picks);
      }
      return kernel;
    });
  });
}

Result<Kernel> MakeMod(const op::Mod& op, LoadContext& load) {
  return Combine(kNumbers, [like_fmod = op.fmod != 0](auto a, auto b) {
    return Modulo(a, b, like_fmod);
  })(op, load);
}

// Pow-15: x and y may differ in type; the result has x's.
Result<Kernel> MakePow(const op::Pow& op, LoadContext& load) {
  if (IsFloatingPoint(load.dtype(op.x))) {
    return Combine(kFloats, [](auto x, auto y) { return pow(x, y); })(op, load);
  }
  if (!IsFloatingPoint(load.dtype(op.y))) {
    return Combine(kIntegers,
                   [](auto x, auto y) { return IntegerPower(x, y); })(op, load);
  }
  return Dispatch(load, op.x, kIntegers, []<class>() {
    return PairKernel(PairLoopOf<double, double>(
        [](double x, double y) { return pow(x, y); }));
  });
}

Result<Kernel> MakeBitShift(const op::BitShift& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(
      WordOf("direction", op.direction, {"LEFT", "RIGHT"}).status());
  return Combine(kIntegers, [left = op.direction == "LEFT"](auto x, auto by) {
    return Shift(x, by, left);
  })(op, load);
}

}  // namespace

Family BinaryFamily() {
  return FamilyOf(
      On<op::Add>(Combine(kNumbers, [](auto a, auto b) { return a + b; })),
      On<op::Sub>(Combine(kNumbers, [](auto a, auto b) { return a - b; })),
      On<op::Mul>(Combine(kNumbers, [](auto a, auto b) { return a * b; })),
      On<op::Div>(
          Combine(kNumbers, [](auto a, auto b) { return Quotient(a, b); })),
      MakeMod,
      Folded<op::Max>(
          kNumbers, [](auto a, auto b) { return Max(a, b); }, PicksGreater),
      Folded<op::Min>(
          kNumbers, [](auto a, auto b) { return Min(a, b); }, PicksSmaller),
      Folded<op::Sum>(
          kFloats, [](auto a, auto b) { return a + b; }, nullptr),
      Folded<op::Mean>(
          kFloats, [](auto a, auto b) { return a + b; }, nullptr,
          /*is_mean=*/true),
      MakePow,
      On<op::BitwiseAnd>(
          Combine(kIntegers, [](auto a, auto b) { return a & b; })),
      On<op::BitwiseOr>(
          Combine(kIntegers, [](auto a, auto b) { return a | b; })),
      On<op::BitwiseXor>(
          Combine(kIntegers, [](auto a, auto b) { return a ^ b; })),
      MakeBitShift);
}

}  // namespace assay::reference
