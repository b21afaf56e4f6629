// SPDX-License-Identifier: Apache-2.0
//
// Values as a person writes them in the cases of this folder. Each element is
// encoded exactly or refused; the types are those that the model declares.
//
//   ParseValues("x = 1, -2; y[3] = i % 2", types);
//
// An element is a formula of numbers, `i` (its row-major index), `i0` to `i5`
// (its index along each axis), `least` (the least positive number of its type)
// and `greatest` (its greatest finite one), with the operators of C, / that
// divides, // that drops the fraction, and ^ that raises to a power. One
// formula for more elements is that of each. The README of the folder has the
// rest.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"

namespace assay::special {

/// The bits of `number` in a type other than string and complex. Throws
/// std::invalid_argument where the type does not have that number.
uint64_t EncodeExactly(DType type, long double number);

/// A tensor of elements of these bits, as many as the shape has.
Tensor Pack(DType type, const Shape& shape, std::span<const uint64_t> bits);

/// The values that a text gives to names, each of which has a type. Invalid
/// argument for a wrong text, a name without a type or a type without a value.
Result<std::map<std::string, Value>> ParseValues(
    std::string_view text, const std::map<std::string, ValueType>& types);

}  // namespace assay::special
