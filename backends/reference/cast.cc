// SPDX-License-Identifier: Apache-2.0
//
// Cast-28 and CastLike-25 among numbers and booleans: decoded exactly in the
// scalar of the source, encoded once in the target, so that nothing is rounded
// twice.

#include "backends/reference/codec.h"
#include "backends/reference/families.h"

namespace assay::reference {
namespace {

template <class T>
Kernel CastKernel(Input input, Output output, DType to, Rounding rounding) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& tensor = run.input(input);
    const Loaded<T> x(tensor);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(output, to, tensor.shape()));
    Encode(x.data(), *y, rounding);
    return OkStatus();
  }};
}

template <class Op>
Result<Kernel> CastTo(LoadContext& load, const Op& op, DType to) {
  if (ScalarOf(to) == ScalarKind::kNone) {
    return Unsupported(Reason::kDType, "a cast to ", to,
                       ", wanted a type of numbers");
  }
  const Rounding rounding{
      // "saturate" is a matter of the 8-bit floats only.
      .overflow = BitsOf(to) == 8 && op.saturate != 0 ? Overflow::kSaturate
                                                      : Overflow::kPropagate,
      .scale = op.round_mode == "up"     ? ScaleRounding::kUp
               : op.round_mode == "down" ? ScaleRounding::kDown
                                         : ScaleRounding::kNearest};
  return Dispatch(load, op.input, kNumbers, [&](auto scalar) {
    using T = typename decltype(scalar)::type;
    return CastKernel<T>(op.input, op.output, to, rounding);
  });
}

class Casts : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::Cast& op, LoadContext& load) override {
    const auto to = DTypeFromOnnx(static_cast<int>(op.to));
    if (!to.has_value()) return InvalidArgument("to is ", op.to);
    return CastTo(load, op, *to);
  }
  Result<Kernel> Visit(const op::CastLike& op, LoadContext& load) override {
    return CastTo(load, op, load.dtype(op.target_type));
  }
};

}  // namespace

std::unique_ptr<OperatorVisitor> CastFamily() {
  return std::make_unique<Casts>();
}

}  // namespace assay::reference
