// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, boolean operators and Where, with ONNX's multidirectional
// broadcasting. Booleans compute as unsigned integers 0 and 1.

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// Equal-19 of strings, byte by byte.
Kernel EqualStrings(const op::Equal& op) {
  return {.forward = [=](KernelContext& run) -> Status {
    const Tensor& a = run.input(op.a);
    const Tensor& b = run.input(op.b);
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(a.shape(), b.shape()));
    ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.c, DType::kBool, shape));
    PairLoopOf<std::string, bool>(
        [](const std::string& x, const std::string& z) { return x == z; })(
        PairNest(a.shape(), b.shape(), shape), a.strings().data(),
        b.strings().data(), y->mutable_elements<bool>().data());
    return OkStatus();
  }};
}

// Where-16: elements of any type, moved as they are.
Status Where(const op::Where& op, KernelContext& run) {
  const Tensor& condition = run.input(op.condition);
  const Tensor& x = run.input(op.x);
  const Tensor& y = run.input(op.y);
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Broadcast(x.shape(), y.shape()));
  ASSAY_ASSIGN_OR_RETURN(shape, Broadcast(condition.shape(), shape));
  ASSAY_ASSIGN_OR_RETURN(Tensor * output,
                         run.Output(op.output, x.dtype(), shape));
  const Nest<4> nest(shape,
                     {BroadcastStrides(condition.shape(), shape),
                      BroadcastStrides(x.shape(), shape),
                      BroadcastStrides(y.shape(), shape), DenseStrides(shape)});
  const bool* const first = condition.elements<bool>().data();
  DispatchUnit(x.dtype(), [&]<class Unit>() {
    const Unit* const from_x = Units<Unit>(x);
    const Unit* const from_y = Units<Unit>(y);
    Unit* const to = MutableUnits<Unit>(*output);
    nest.ForEach([&](int64_t of_first, int64_t ix, int64_t iy, int64_t i) {
      to[i] = first[of_first] ? from_x[ix] : from_y[iy];
    });
  });
  return OkStatus();
}

Result<Kernel> MakeEqual(const op::Equal& op, LoadContext& load) {
  if (load.dtype(op.a) == DType::kString) return EqualStrings(op);
  return Compare(kNumbers, [](auto a, auto b) { return Equal(a, b); })(op,
                                                                       load);
}

Result<Kernel> MakeWhere(const op::Where& op, LoadContext& load) {
  return WithMovedGradient(load, op.x,
                           MovingKernel(load, op.x, [op](KernelContext& run) {
                             return Where(op, run);
                           }));
}

}  // namespace

Family LogicFamily() {
  return FamilyOf(
      MakeEqual,
      On<op::Less>(
          Compare(kNumbers, [](auto a, auto b) { return Less(a, b); })),
      On<op::LessOrEqual>(Compare(
          kNumbers, [](auto a, auto b) { return Less(a, b) || Equal(a, b); })),
      On<op::Greater>(
          Compare(kNumbers, [](auto a, auto b) { return Less(b, a); })),
      On<op::GreaterOrEqual>(Compare(
          kNumbers, [](auto a, auto b) { return Less(b, a) || Equal(a, b); })),
      On<op::And>(
          Compare(kBooleans, [](auto a, auto b) { return (a & b) != 0; })),
      On<op::Or>(
          Compare(kBooleans, [](auto a, auto b) { return (a | b) != 0; })),
      On<op::Xor>(
          Compare(kBooleans, [](auto a, auto b) { return (a ^ b) != 0; })),
      MakeWhere);
}

}  // namespace assay::reference
