// SPDX-License-Identifier: Apache-2.0
//
// Reduction: what becomes of two numbers that meet. It is the same in both orders, bits
// of a NaN aside, so that the bits of a result are those of its tree.
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

/// Combines what came in with a part of the tensor. Unsupported for a type other than
/// float32, float64, int32 and int64; invalid argument for a part that the tensor does
/// not have, and for other bytes than it has.
Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor);

/// The bytes of a part. As Combine declines, of any type of whole bytes.
Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor);

}  // namespace assay::ranks
