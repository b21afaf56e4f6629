// SPDX-License-Identifier: Apache-2.0
//
// Tensors of exactly the numbers that are named: nothing is rounded on the way.
//
//   EncodeExactly(DType::kFloat16, 0x1p-24);  // 1
//   EncodeExactly(DType::kFloat16, 2049.0);   // throws: float16 has no 2049

#pragma once

#include <cstdint>
#include <span>

#include "framework/core/tensor.h"

namespace assay::special {

/// The bits of `number` in a type other than string and complex. Throws
/// std::invalid_argument where the type does not have that number.
uint64_t EncodeExactly(DType type, long double number);

/// A tensor of elements of these bits, as many as the shape has.
Tensor Pack(DType type, const Shape& shape, std::span<const uint64_t> bits);

}  // namespace assay::special
