// SPDX-License-Identifier: Apache-2.0
//
// Axes and extents: what the operators of every kernel library count with.
//
//   ASSAY_ASSIGN_OR_RETURN(const int axis,
//                          kernels::NormalizeAxis(op.axis, x.rank()));
//   const int64_t rows = kernels::Product(x.dims(), 0, size_t(axis));
//
// This room is for backends that bring a library of their own. The reference
// does not use it, so that a fault here is a difference in a verdict.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::inline v1::kernels {

/// `axis` of a tensor of that rank, from [-rank, rank) to [0, rank); an invalid
/// argument outside.
Result<int> NormalizeAxis(int64_t axis, int rank);

/// Which axes a list names, by axis. Invalid argument as NormalizeAxis; an axis
/// may stand there twice.
Result<std::vector<bool>> ListedAxes(std::span<const int64_t> axes, int rank);

/// The product of extents [begin, end), which must not overflow.
int64_t Product(std::span<const int64_t> extents, size_t begin, size_t end);
int64_t Product(std::span<const int64_t> extents);

/// Strides in elements of a row-major tensor; an extent of 0 counts as 1.
std::vector<int64_t> RowMajorStrides(std::span<const int64_t> extents);

}  // namespace assay::inline v1::kernels
