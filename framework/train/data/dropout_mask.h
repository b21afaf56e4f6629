// SPDX-License-Identifier: Apache-2.0
//
// DropoutMask: what a Dropout multiplies by in a step, drawn by the trainer and not by
// a backend, so that all backends drop the same.
//
//   ASSAY_RETURN_IF_ERROR(
//       DrawMask(MaskKey(seed, step, part, "drop1_mask"), /*ratio=*/0.1, &mask));

#pragma once

#include <cstdint>
#include <string_view>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// The key of one mask in one part of a step's batch; others have nothing in
/// common with it.
uint64_t MaskKey(uint64_t seed, int64_t step, int64_t part,
                 std::string_view name);

/// Each element is 0 with the probability `ratio` and 1 / (1 - ratio)
/// otherwise, so that the mean stays (N. Srivastava et al., "Dropout", 2014,
/// section 10, and ONNX's Dropout). Invalid argument for a ratio outside of [0,
/// 1); unsupported, reason dtype, for others than float32 and float64.
Status DrawMask(uint64_t key, double ratio, Tensor* mask);

}  // namespace assay::train
