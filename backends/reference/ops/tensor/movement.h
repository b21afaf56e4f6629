// SPDX-License-Identifier: Apache-2.0
//
// Moving elements without looking at them: 1, 2, 4, 8 or 16 bytes, or a string.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"
#include "framework/core/tensor.h"

namespace assay::reference {

/// The elements of a tensor of int32 or int64; none for an omitted input.
Scratch<int64_t> IntegersOf(const Tensor& tensor);

/// The axes, or all of `rank` where none are given.
Dims AxesOrAll(std::span<const int64_t> axes, bool given, int rank);

/// Copies an element of x to one of y for every step of the nest (x, y),
/// starting from the given elements. Both have the same element type, which
/// CheckMovable has accepted.
void MoveElements(const Tensor& x, Tensor& y, const Nest<2>& nest,
                  int64_t x_start = 0, int64_t y_start = 0);

/// Sets every element of y to the one element of `value`, or to zero or the
/// empty string when `value` is the empty tensor.
void FillElements(const Tensor& value, Tensor& y);

}  // namespace assay::reference
