// SPDX-License-Identifier: Apache-2.0
//
// Reduction: combines two numbers. It is commutative but for the bits of a NaN,
// so that the bits of a result depend on the algorithm's tree alone.
//
//   ASSAY_RETURN_IF_ERROR(Combine(Reduction::kSum, came, part, &tensor));

#pragma once

#include <cstddef>
#include <span>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

using assay::Reduction;

/// Combines the bytes that `came` with a part of the tensor, in place.
/// Unsupported for a type other than float32, float64, int32 and int64; invalid
/// argument for a part that the tensor does not have, and for another number of
/// bytes than the part has.
Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor);

/// The bytes of a part of the tensor. Errors as of Combine, but for any type of
/// whole bytes.
Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor);

}  // namespace assay::ranks
