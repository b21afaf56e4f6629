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

#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// Of one parameter.
template <class T>
struct Elements {
  std::span<T> x;
  std::span<const T> g;
  std::vector<std::span<T>> state;  // empty where a slot is a scalar
};

template <class T>
Elements<T> ElementsOf(Tensor* parameter, const Tensor& gradient,
                       std::span<Tensor> slots) {
  Elements<T> elements{
      parameter->mutable_elements<T>(), gradient.elements<T>(), {}};
  for (Tensor& slot : slots) {
    const bool is_like =
        slot.dtype() == kDTypeOf<T> && slot.shape() == parameter->shape();
    elements.state.push_back(is_like ? slot.mutable_elements<T>()
                                     : std::span<T>());
  }
  return elements;
}

/// Calls `update` with the elements of the parameter's type. Unsupported for types
/// other than float32 and float64.
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

}  // namespace assay::train
