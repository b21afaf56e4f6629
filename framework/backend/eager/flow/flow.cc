// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/flow/flow.h"

#include <Eigen/Core>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace assay::flow {
namespace {

template <class T>
void AddTo(Tensor& sum, const Tensor& addend) {
  const std::span<T> to = sum.mutable_elements<T>();
  const std::span<const T> from = addend.elements<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Calls take(i, number) for each number of 16 bits, which is exact in float32.
template <class Half, class Take>
void ForEach(const Tensor& halves, const Take& take) {
  for (size_t i = 0; i < static_cast<size_t>(halves.num_elements()); ++i) {
    Half number;
    std::memcpy(&number, halves.data() + i * sizeof(Half), sizeof(Half));
    take(i, static_cast<float>(number));
  }
}

template <class Half>
void AddHalvesTo(Tensor& sum, const Tensor& addend) {
  const std::span<float> to = sum.mutable_elements<float>();
  ForEach<Half>(addend, [&](size_t i, float number) { to[i] += number; });
}

template <class Half>
void Widen(const Tensor& halves, Tensor& wide) {
  const std::span<float> to = wide.mutable_elements<float>();
  ForEach<Half>(halves, [&](size_t i, float number) { to[i] = number; });
}

template <class Half>
void Round(const Tensor& sum, Tensor& rounded) {
  const std::span<const float> from = sum.elements<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto number = static_cast<Half>(from[i]);
    std::memcpy(rounded.mutable_data() + i * sizeof(Half), &number,
                sizeof(Half));
  }
}

void Add(Tensor& sum, const Tensor& addend) {
  switch (addend.dtype()) {
    case DType::kFloat16:
      return AddHalvesTo<Eigen::half>(sum, addend);
    case DType::kBFloat16:
      return AddHalvesTo<Eigen::bfloat16>(sum, addend);
    case DType::kFloat32:
      return AddTo<float>(sum, addend);
    default:
      return AddTo<double>(sum, addend);
  }
}

bool IsHalf(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

}  // namespace

Status Flow::Add(const Tensor& gradient) {
  if (!any()) {
    dtype_ = gradient.dtype();
    sum_ = gradient;
    return OkStatus();
  }
  if (gradient.dtype() != dtype_ || gradient.shape() != sum_.shape()) {
    return Internal("cannot add a gradient of ", gradient.Signature(),
                    " to one of ", dtype_, sum_.shape().ToString());
  }
  if (IsHalf(dtype_) && sum_.dtype() == dtype_) {
    ASSAY_ASSIGN_OR_RETURN(Tensor wide,
                           Tensor::Allocate(DType::kFloat32, sum_.shape()));
    if (dtype_ == DType::kFloat16) {
      Widen<Eigen::half>(sum_, wide);
    } else {
      Widen<Eigen::bfloat16>(sum_, wide);
    }
    sum_ = std::move(wide);
  } else if (!sum_.unique()) {
    ASSAY_ASSIGN_OR_RETURN(sum_, sum_.Clone());
  }
  flow::Add(sum_, gradient);
  return OkStatus();
}

Status Flow::Finish() {
  if (!any() || sum_.dtype() == dtype_) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Tensor rounded,
                         Tensor::Allocate(dtype_, sum_.shape()));
  if (dtype_ == DType::kFloat16) {
    Round<Eigen::half>(sum_, rounded);
  } else {
    Round<Eigen::bfloat16>(sum_, rounded);
  }
  sum_ = std::move(rounded);
  return OkStatus();
}

}  // namespace assay::flow
