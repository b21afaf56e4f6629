// SPDX-License-Identifier: Apache-2.0
//
// Flow: the gradients that flow into one value of a backward run, summed.
//
//   Flow flow;
//   ASSAY_RETURN_IF_ERROR(flow.Add(gradient));  // of each reader
//   ASSAY_RETURN_IF_ERROR(flow.Finish());
//   Use(flow.sum());

#pragma once

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::flow {

/// True for the element types of gradients: float16, bfloat16, float32 and
/// float64.
inline bool IsGradientType(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

/// Of 16 bits the sum is taken in float32 and rounded once, to nearest, ties to
/// even.
class Flow {
 public:
  bool any() const { return sum_.defined(); }

  /// Of an IsGradientType. A first tensor is shared, and bytes that somebody
  /// else holds are not written into. Internal where the type or the shape is
  /// not that of the first.
  Status Add(const Tensor& gradient);

  /// When all have been added. The sum then has their type.
  Status Finish();

  /// Undefined where nothing was added: zeros.
  const Tensor& sum() const { return sum_; }

 private:
  DType dtype_ = DType::kUndefined;
  Tensor sum_;  // of 16 bits in float32, from the second on
};

}  // namespace assay::flow
