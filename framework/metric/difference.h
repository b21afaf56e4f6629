// SPDX-License-Identifier: Apache-2.0
//
// Difference: every number about how far one tensor is from another, taken in
// one pass, without a verdict.
//
//   const Difference d = Compare(got, want, {.rtol = 1e-3, .atol = 1e-7});
//   if (d.out_of_limit > 0) Show(d.worst_index, d.worst_ratio);
//
// Floats are within limits when |got - want| <= atol + rtol * |want|, computed
// as numpy.testing.assert_allclose computes it: in the element type for
// float16, float32, float64 and complex; in float32 for bfloat16 and narrower
// types, which numpy cannot compute in. NaN agrees with NaN only, an infinity
// only with itself. Integers and booleans agree when equal. Moduli of complex64
// are hypot's; numpy's vector code rounds them otherwise, so that the two may
// disagree within two units in the last place of the limit.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/metric/error_sums.h"
#include "framework/metric/ulp.h"

namespace assay::metric {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

struct Difference {
  int64_t nan_mismatch = 0;  // NaN on one side only
  int64_t inf_mismatch = 0;  // infinite on one side, or of other signs
  int64_t sign_of_zero_mismatch = 0;
  int64_t out_of_limit = 0;  // the mismatches of NaN and infinity included
  bool bitwise_equal = false;
  /// Over elements finite on both sides; absent when there are none.
  std::optional<Errors> errors;
  /// Over the same, in the element type; real float types only.
  std::optional<UlpSummary> ulp;
  /// The first element with the largest |got - want| / (atol + rtol * |want|),
  /// where a mismatch of NaN or infinity counts as infinite; for integers the
  /// first with the largest |got - want|. -1 when that largest is zero.
  int64_t worst_index = -1;
  double worst_ratio = 0;  // for integers 0, or infinity
};

/// Both tensors must be in CPU memory, of one element type other than string,
/// and have as many elements; extents are not looked at. Tolerance is for
/// float and complex types.
Difference Compare(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Of every element the ratio of which Compare keeps the largest, and of
/// integers |got - want|; for the same tensors.
std::vector<double> RatiosOf(const Tensor& got, const Tensor& want,
                             Tolerance tolerance);

}  // namespace assay::metric
