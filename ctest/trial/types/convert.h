// SPDX-License-Identifier: Apache-2.0
//
// Values of a case in another element type, a part of Retype.
//
//   const Tensor half = ConvertTensor(tensor, DType::kFloat16);

#pragma once

#include "framework/core/dtype.h"
#include "framework/core/tensor.h"

namespace assay::retype {

/// The numbers of a tensor in another type: rounded to nearest, clamped to what
/// the type has, and truncated to integers. Strings are what the numbers print
/// as, and are read as numbers where they start with one, else as their length.
Tensor ConvertTensor(const Tensor& tensor, DType type);

}  // namespace assay::retype
