// SPDX-License-Identifier: Apache-2.0
//
// Cast-28 and CastLike-25. Numbers and booleans are decoded exactly in the
// scalar of the source and encoded once in the target, so that nothing is
// rounded twice; strings are parsed and printed.

#include <algorithm>
#include <functional>
#include <string>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/number_text.h"

namespace assay::reference {
namespace {

template <class T>
Kernel CastKernel(Input input, Output output, DType to, Rounding rounding) {
  Kernel kernel{.forward = [=](KernelContext& run) -> Status {
    const Tensor& tensor = run.input(input);
    const Loaded<T> x(tensor);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(output, to, tensor.shape()));
    Encode(x.data(), *y, rounding);
    return OkStatus();
  }};
  if constexpr (std::floating_point<T>) {
    kernel.backward = MapBackward(SlopeLoopOf([](double) { return 1.0; }));
  }
  return kernel;
}

template <class T>
Kernel ParseKernel(Input input, Output output, DType to, Rounding rounding) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& tensor = run.input(input);
    Scratch<T> values;
    for (const std::string& text : tensor.strings()) {
      ASSAY_ASSIGN_OR_RETURN(const T value, ParseNumber<T>(text));
      values.push_back(value);
    }
    ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(output, to, tensor.shape()));
    Encode(values.data(), *y, rounding);
    return OkStatus();
  }};
}

template <class T>
Kernel PrintKernel(Input input, Output output) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& tensor = run.input(input);
    const Loaded<T> x(tensor);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(output, DType::kString, tensor.shape()));
    std::transform(x.data(), x.data() + x.size(), y->mutable_strings().begin(),
                   PrintNumber<T>);
    return OkStatus();
  }};
}

Status CopyStrings(Input input, Output output, KernelContext& run) {
  const Tensor& x = run.input(input);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(output, DType::kString, x.shape()));
  std::ranges::copy(x.strings(), y->mutable_strings().begin());
  return OkStatus();
}

template <class Op>
Result<Kernel> CastTo(LoadContext& load, const Op& op, DType to) {
  if (to == DType::kString) {
    if (load.dtype(op.input) == DType::kString) {
      return Kernel{.forward =
                        std::bind_front(&CopyStrings, op.input, op.output)};
    }
    // The number is printed as its type has it; a Var is not printed.
    constexpr Scalars<float, double, int64_t, uint64_t> kPrinted{
        "a type of numbers"};
    return Dispatch(load, op.input, kPrinted, [&]<class T>() {
      return PrintKernel<T>(op.input, op.output);
    });
  }
  if (ScalarOf(to) == ScalarKind::kNone) {
    return Unsupported(Reason::kDType, "a cast to ", to,
                       ", wanted numbers or strings");
  }
  const Rounding rounding{
      // "saturate" is a matter of the 8-bit floats only.
      .overflow = BitsOf(to) == 8 && op.saturate != 0 ? Overflow::kSaturate
                                                      : Overflow::kPropagate,
      .scale = op.round_mode == "up"     ? ScaleRounding::kUp
               : op.round_mode == "down" ? ScaleRounding::kDown
                                         : ScaleRounding::kNearest,
      .traced = to};
  if (load.dtype(op.input) == DType::kString) {
    if (ScalarOf(to) == ScalarKind::kInt64) {
      return ParseKernel<int64_t>(op.input, op.output, to, rounding);
    }
    if (ScalarOf(to) == ScalarKind::kUint64) {
      return ParseKernel<uint64_t>(op.input, op.output, to, rounding);
    }
    // A float, made a narrower one, would be rounded twice.
    return to == DType::kFloat32
               ? ParseKernel<float>(op.input, op.output, to, rounding)
               : ParseKernel<double>(op.input, op.output, to, rounding);
  }
  return Dispatch(load, op.input, kNumbers, [&]<class T>() {
    return CastKernel<T>(op.input, op.output, to, rounding);
  });
}

Result<Kernel> MakeCast(const op::Cast& op, LoadContext& load) {
  const auto to = DTypeFromOnnx(static_cast<int>(op.to));
  if (!to.has_value()) return InvalidArgument("to is ", op.to);
  return CastTo(load, op, *to);
}

Result<Kernel> MakeCastLike(const op::CastLike& op, LoadContext& load) {
  return CastTo(load, op, load.dtype(op.target_type));
}

}  // namespace

Family CastFamily() { return FamilyOf(MakeCast, MakeCastLike); }

}  // namespace assay::reference
