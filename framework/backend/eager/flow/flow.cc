// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/flow/flow.h"

#include <Eigen/Core>
#include <cstddef>
#include <cstring>
#include <span>

namespace assay::flow {
namespace {

/// `sum` may be `a`.
template <class T>
void AddAll(const Tensor& a, const Tensor& b, Tensor& sum) {
  const std::span<const T> left = a.elements<T>();
  const std::span<const T> right = b.elements<T>();
  const std::span<T> to = sum.mutable_elements<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = left[i] + right[i];
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
void WidenHalves(const Tensor& halves, Tensor& wide) {
  const std::span<float> to = wide.mutable_elements<float>();
  ForEach<Half>(halves, [&](size_t i, float number) { to[i] = number; });
}

template <class Half>
void AddHalves(const Tensor& halves, Tensor& wide) {
  const std::span<float> to = wide.mutable_elements<float>();
  ForEach<Half>(halves, [&](size_t i, float number) { to[i] += number; });
}

template <class Half>
void RoundHalves(const Tensor& wide, Tensor& rounded) {
  const std::span<const float> from = wide.elements<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto number = static_cast<Half>(from[i]);
    std::memcpy(rounded.mutable_data() + i * sizeof(Half), &number,
                sizeof(Half));
  }
}

bool IsHalf(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Calls f with a number of the C++ type of a type of 16 bits.
template <class F>
void WithHalf(DType dtype, const F& f) {
  if (dtype == DType::kFloat16) return f(Eigen::half{});
  f(Eigen::bfloat16{});
}

}  // namespace

Status Flow::FitMemory(DType dtype, const Shape& shape) {
  if (!callers_) return Fit(memory(), dtype, shape);
  if (Is(*memory_, dtype, shape)) return OkStatus();
  return InvalidArgument("a gradient of ", dtype, shape.ToString(),
                         " does not fit the caller's memory, ",
                         memory_->Signature());
}

Result<Tensor*> Flow::First(DType dtype, const Shape& shape) {
  ASSAY_RETURN_IF_ERROR(FitMemory(dtype, shape));
  taken_ = true;
  return &memory();
}

Status Flow::AddToSum(const Tensor& gradient) {
  if (!Is(gradient, sum_->dtype(), sum_->shape())) {
    return Internal("cannot add a gradient of ", gradient.Signature(),
                    " to one of ", sum_->Signature());
  }
  if (IsHalf(gradient.dtype())) return AddHalf(gradient);
  if (sum_ != &memory()) {
    ASSAY_RETURN_IF_ERROR(FitMemory(gradient.dtype(), gradient.shape()));
  }
  if (gradient.dtype() == DType::kFloat32) {
    AddAll<float>(*sum_, gradient, memory());
  } else {
    AddAll<double>(*sum_, gradient, memory());
  }
  sum_ = &memory();
  return OkStatus();
}

Status Flow::AddHalf(const Tensor& gradient) {
  if (!wide_used_) {
    ASSAY_RETURN_IF_ERROR(Fit(wide_, DType::kFloat32, gradient.shape()));
    WithHalf(gradient.dtype(),
             [&]<class Half>(Half) { WidenHalves<Half>(*sum_, wide_); });
    wide_used_ = true;
  }
  WithHalf(gradient.dtype(),
           [&]<class Half>(Half) { AddHalves<Half>(gradient, wide_); });
  return OkStatus();
}

// Until here sum_ is the first gradient, which tells the type.
Status Flow::Round() {
  ASSAY_RETURN_IF_ERROR(FitMemory(sum_->dtype(), sum_->shape()));
  WithHalf(sum_->dtype(),
           [&]<class Half>(Half) { RoundHalves<Half>(wide_, memory()); });
  sum_ = &memory();
  wide_used_ = false;
  return OkStatus();
}

Status Flow::Settle(DType dtype, const Shape& shape) {
  ASSAY_RETURN_IF_ERROR(Finish());
  if (sum_ == &memory()) return OkStatus();
  ASSAY_RETURN_IF_ERROR(FitMemory(dtype, shape));
  Tensor& to = memory();
  if (to.byte_size() == 0) return OkStatus();
  if (any()) {
    std::memcpy(to.mutable_data(), sum_->data(), to.bytes().size());
  } else {
    std::memset(to.mutable_data(), 0, to.bytes().size());
  }
  return OkStatus();
}

}  // namespace assay::flow
