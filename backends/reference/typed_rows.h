// SPDX-License-Identifier: Apache-2.0
//
// Rows of a family (families.h) whose kernel is a function and what the first
// input says of types.
//
//   return FamilyOf(WithBackward(Typed(kFloats,
//                                      []<class T>() { return &Lrn<T>; }),
//                                LrnBackward),
//                   Moved(Transpose));

#pragma once

#include <functional>
#include <type_traits>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/scalar/codec.h"
#include "framework/backend/eager/flow/flow.h"

namespace assay::reference {

template <class Op, class Types, class Function>
auto TypedRow(const Types& scalars, Function function,
              Status (*)(const Op&, KernelContext&)) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    return Dispatch(load, kFirst, scalars, [&]<class T>() {
      return std::bind_front(function.template operator()<T>(), op);
    });
  });
}
template <class Op, class L, class Types, class Function>
auto TypedRow(const Types& scalars, Function function,
              Status (*)(const Op&, const SimdLoops<L>*, KernelContext&)) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    return Dispatch(load, kFirst, scalars, [&]<class T>() {
      return std::bind_front(function.template operator()<T>(), op,
                             LoopsOf<T>(load));
    });
  });
}

/// The kernel whose forward is function.operator()<T>(), of an operator whose
/// first input says what T is; with the loops for T where it takes them.
template <class T, class... Ts, class Function>
auto Typed(const Scalars<T, Ts...>& scalars, Function function) {
  return TypedRow(scalars, function, function.template operator()<T>());
}

/// A row with the backward function.operator()<T>(), T being float or, of a
/// first input of float64, double; or with this backward, which computes in
/// double.
template <class Op, class Make, class Function>
auto WithBackward(OperatorRow<Op, Make> row, Function function) {
  return On<Op>([=](const Op& op, LoadContext& load) -> Result<Kernel> {
    ASSAY_ASSIGN_OR_RETURN(Kernel kernel, row.make(op, load));
    const auto add = [&]<class T>() {
      const auto backward = function.template operator()<T>();
      if constexpr (std::is_invocable_v<decltype(backward), const Op&,
                                        GradientContext&>) {
        kernel.backward = std::bind_front(backward, op);
      } else {
        kernel.backward = std::bind_front(backward, op, LoopsOf<T>(load));
      }
    };
    const DType type = load.dtype(kFirst);
    if (!flow::IsGradientType(type)) return kernel;
    if (type == DType::kFloat64) {
      add.template operator()<double>();
    } else {
      add.template operator()<float>();
    }
    return kernel;
  });
}
template <class Op, class Make>
auto WithBackward(OperatorRow<Op, Make> row,
                  Status (*backward)(const Op&, GradientContext&)) {
  return WithBackward(row, [backward]<class>() { return backward; });
}

/// The kernel of an operator that only moves elements of its first input, and
/// of those that have its type.
template <class Op>
auto Moved(Status (*function)(const Op&, KernelContext&)) {
  return On<Op>([function](const Op& op, LoadContext& load) {
    return WithMovedGradient(
        load, kFirst,
        MovingKernel(load, kFirst, std::bind_front(function, op)));
  });
}

}  // namespace assay::reference
