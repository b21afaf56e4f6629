// SPDX-License-Identifier: Apache-2.0
//
// Flow: the gradients that flow into one value of a backward run, summed, in
// memory that is kept from run to run: a tensor is made anew only where its
// type or shape has changed, or somebody else holds its bytes.
//
//   Flow flow;
//   ASSAY_ASSIGN_OR_RETURN(Tensor* const first, flow.First(dtype, shape));
//   Write(*first);
//   ASSAY_RETURN_IF_ERROR(flow.Add(*first));
//   ASSAY_RETURN_IF_ERROR(flow.Add(gradient));  // of another reader
//   ASSAY_RETURN_IF_ERROR(flow.Finish());
//   Use(flow.sum());
//   flow.Clear();  // before the next run

#pragma once

#include <utility>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::flow {

/// Equality without a call of memcmp, which costs more than a few extents.
inline bool SameExtents(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  const int64_t* of_b = b.begin();
  for (const int64_t extent : a) {
    if (extent != *of_b++) return false;
  }
  return true;
}

/// True for a tensor of this type and shape.
inline bool Is(const Tensor& tensor, DType dtype, const Shape& shape) {
  return tensor.dtype() == dtype && SameExtents(tensor.shape(), shape);
}

/// Makes `held` a tensor of this type and shape whose bytes nobody else holds.
/// Its content is unspecified.
inline Status Fit(Tensor& held, DType dtype, const Shape& shape) {
  if (Is(held, dtype, shape) && held.unique()) [[likely]]
    return OkStatus();
  Shape wanted = shape;  // may be that of `held`
  held = Tensor();       // so that old and new are not held at once
  ASSAY_ASSIGN_OR_RETURN(held, Tensor::Allocate(dtype, std::move(wanted)));
  return OkStatus();
}

/// True for the element types of gradients: float16, bfloat16, float32 and
/// float64.
inline bool IsGradientType(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

/// Gradients of 16 bits are summed in float32, and the sum is rounded once, to
/// nearest, ties to even. A gradient that flows alone is not copied.
class Flow {
 public:
  /// The sum is to lie in `memory`, which outlives the flow. A caller's is
  /// never exchanged for other memory.
  void LieIn(Tensor* memory, bool callers) {
    memory_ = memory;
    callers_ = callers;
  }

  /// Forgets what flowed and keeps the memory.
  void Clear() {
    sum_ = nullptr;
    taken_ = wide_used_ = false;
  }

  bool any() const { return sum_ != nullptr; }

  /// True until something was added or First was called.
  bool empty() const { return sum_ == nullptr && !taken_; }

  /// The memory of the sum, of unspecified content, for who writes the first
  /// gradient of an empty flow and then adds it. Invalid argument where the
  /// caller's is of another type or shape.
  Result<Tensor*> First(DType dtype, const Shape& shape);

  /// Adds a gradient of an IsGradientType, which must stay unchanged until
  /// Clear. Internal where its type or shape is not that of the first gradient.
  Status Add(const Tensor& gradient) {
    if (any()) return AddToSum(gradient);
    sum_ = &gradient;
    return OkStatus();
  }

  /// When all have been added. The sum then has their type.
  Status Finish() { return wide_used_ ? Round() : OkStatus(); }

  /// Finishes, and takes the sum to the flow's memory, of this type and shape:
  /// zeros where nothing flowed.
  Status Settle(DType dtype, const Shape& shape);

  /// The sum of the gradients that were added; it may be read once the flow is
  /// finished.
  const Tensor& sum() const { return *sum_; }

 private:
  Tensor& memory() { return memory_ == nullptr ? own_ : *memory_; }
  Status FitMemory(DType dtype, const Shape& shape);
  Status AddToSum(const Tensor& gradient);
  Status AddHalf(const Tensor& gradient);
  Status Round();

  const Tensor* sum_ = nullptr;  // null where nothing was added
  Tensor* memory_ = nullptr;     // null: own_
  bool callers_ = false;
  bool taken_ = false;
  bool wide_used_ = false;  // the sum is in wide_
  Tensor own_;
  Tensor wide_;  // the sum of 16 bits in float32, from the second on
};

}  // namespace assay::flow
