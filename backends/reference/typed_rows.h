// SPDX-License-Identifier: Apache-2.0
//
// Rows of a family (family.h) whose kernel is a function and what the first
// input says of types.
//
//   return FamilyOf(Typed(kFloats, []<class T>() { return &Lrn<T>; }),
//                   Moved(Transpose));

#pragma once

#include <functional>

#include "backends/reference/family.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/scalar/codec.h"

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

/// The kernel of an operator that only moves elements of its first input, and of
/// those that have its type.
template <class Op>
auto Moved(Status (*function)(const Op&, KernelContext&)) {
  return On<Op>([function](const Op& op, LoadContext& load) {
    return WithMovedGradient(
        load, kFirst,
        MovingKernel(load, kFirst, std::bind_front(function, op)));
  });
}

}  // namespace assay::reference
