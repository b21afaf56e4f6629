// SPDX-License-Identifier: Apache-2.0
//
// InPlace: an update rule's arithmetic, written once for float32 and float64.
//
//   return InPlace(parameter, gradient, slots,
//                  [&]<class T>(const Elements<T>& each) {
//                    const T rate = static_cast<T>(at.rate);
//                    for (size_t i = 0; i < each.x.size(); ++i) {
//                      each.x[i] -= rate * each.g[i];
//                    }
//                  });
//
// Factors of a step are computed in double and rounded to T once.

#pragma once

#include <array>
#include <span>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// The most tensors of state that a parameter can have.
inline constexpr size_t kMostSlots = 4;

/// The elements of one parameter, of its gradient and of its state.
template <class T>
struct Elements {
  std::span<T> x;
  std::span<const T> g;
  std::array<std::span<T>, kMostSlots> state;  // empty where a slot is a scalar
};

template <class T>
Elements<T> ElementsOf(Tensor* parameter, const Tensor& gradient,
                       std::span<Tensor> slots) {
  Elements<T> elements{
      parameter->mutable_elements<T>(), gradient.elements<T>(), {}};
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].dtype() != kDTypeOf<T> ||
        slots[i].shape() != parameter->shape()) {
      continue;
    }
    elements.state[i] = slots[i].mutable_elements<T>();
  }
  return elements;
}

/// Calls `update` with the elements of the parameter's type. Unsupported for
/// types other than float32 and float64.
template <class Update>
Status InPlace(Tensor* parameter, const Tensor& gradient,
               std::span<Tensor> slots, const Update& update) {
  switch (parameter->dtype()) {
    case DType::kFloat32:
      update(ElementsOf<float>(parameter, gradient, slots));
      return OkStatus();
    case DType::kFloat64:
      update(ElementsOf<double>(parameter, gradient, slots));
      return OkStatus();
    default:
      return Unsupported(Reason::kDType, "found a parameter of type ",
                         ToString(parameter->dtype()),
                         ", wanted float32 or float64");
  }
}

/// Memory of the type and shape of `like`, with any contents. As Allocate
/// declines.
inline Status Reserve(const Tensor& like, Tensor* to) {
  if (to->defined() && to->dtype() == like.dtype() &&
      to->shape() == like.shape()) {
    return OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(*to, Tensor::Allocate(like.dtype(), like.shape()));
  return OkStatus();
}

}  // namespace assay::train
