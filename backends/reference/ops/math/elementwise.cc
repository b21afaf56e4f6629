// SPDX-License-Identifier: Apache-2.0
//
// Functions of one element, as the ONNX operators of the same names (opset 13,
// 22 and later) state them.

#include "backends/reference/families.h"
#include "backends/reference/loop/pointwise.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// Sign-13: -1, 0 or 1; zeros and NaN stay what they are.
template <class T>
T Sign(T x) {
  if (Before(x, T(0))) return -T(1);
  return Before(T(0), x) ? T(1) : x;
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

class Elementwise : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::Abs&, LoadContext& load) override {
    return Map(load, kNumbers, [](auto x) { return abs(x); });
  }
  Result<Kernel> Visit(const op::Neg&, LoadContext& load) override {
    return Map(load, kNumbers, [](auto x) { return -x; });
  }
  Result<Kernel> Visit(const op::Sign&, LoadContext& load) override {
    return Map(load, kNumbers, [](auto x) { return Sign(x); });
  }
  Result<Kernel> Visit(const op::Floor&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return floor(x); });
  }
  Result<Kernel> Visit(const op::Ceil&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return ceil(x); });
  }
  // Round-22: halves go to the nearest even integer.
  Result<Kernel> Visit(const op::Round&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return nearbyint(x); });
  }
  Result<Kernel> Visit(const op::Reciprocal&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return decltype(x)(1) / x; });
  }
  Result<Kernel> Visit(const op::Sqrt&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return sqrt(x); });
  }
  Result<Kernel> Visit(const op::Exp&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return exp(x); });
  }
  Result<Kernel> Visit(const op::Log&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return log(x); });
  }
  Result<Kernel> Visit(const op::Erf&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return erf(x); });
  }
  Result<Kernel> Visit(const op::Sin&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return sin(x); });
  }
  Result<Kernel> Visit(const op::Cos&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return cos(x); });
  }
  Result<Kernel> Visit(const op::Tan&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return tan(x); });
  }
  Result<Kernel> Visit(const op::Asin&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return asin(x); });
  }
  Result<Kernel> Visit(const op::Acos&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return acos(x); });
  }
  Result<Kernel> Visit(const op::Atan&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return atan(x); });
  }
  Result<Kernel> Visit(const op::Sinh&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return sinh(x); });
  }
  Result<Kernel> Visit(const op::Cosh&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return cosh(x); });
  }
  Result<Kernel> Visit(const op::Asinh&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return asinh(x); });
  }
  Result<Kernel> Visit(const op::Acosh&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return acosh(x); });
  }
  Result<Kernel> Visit(const op::Atanh&, LoadContext& load) override {
    return Map(load, kFloats, [](auto x) { return atanh(x); });
  }
  Result<Kernel> Visit(const op::IsNaN&, LoadContext& load) override {
    return Test(load, kFloats, [](auto x) { return IsNan(x); });
  }
  Result<Kernel> Visit(const op::IsInf& op, LoadContext& load) override {
    return Test(
        load, kFloats,
        [up = op.detect_positive != 0, down = op.detect_negative != 0](auto x) {
          const auto value = static_cast<double>(Value(x));
          return std::isinf(value) && (value > 0 ? up : down);
        });
  }
  Result<Kernel> Visit(const op::Not&, LoadContext& load) override {
    return Test(load, kIntegers, [](auto x) { return x == decltype(x)(0); });
  }
  Result<Kernel> Visit(const op::BitwiseNot&, LoadContext& load) override {
    return Map(load, kIntegers, [](auto x) { return ~x; });
  }
  Result<Kernel> Visit(const op::Clip& op, LoadContext& load) override {
    return Dispatch(load, op.input, kNumbers, [&](auto scalar) {
      return ClipKernel<typename decltype(scalar)::type>(op);
    });
  }
};

}  // namespace

std::unique_ptr<OperatorVisitor> ElementwiseFamily() {
  return std::make_unique<Elementwise>();
}

}  // namespace assay::reference
