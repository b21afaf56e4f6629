// SPDX-License-Identifier: Apache-2.0
//
// Tensors of exactly the numbers that are named: what the rows of this suite
// are written in. Nothing is rounded on the way in.
//
//   Of(kF16, {2}, {1, 0x1p-24});             // float16[2]
//   Of(kF16, {1}, {2049});                   // throws: float16 has no 2049
//   By(kF32, {65537}, [](int64_t i) { return i % 7; });
//   Whole(kI64, {1}, {9007199254740993});    // above what a double holds

#ifndef ASSAY_SPECIAL_VALUES_H_
#define ASSAY_SPECIAL_VALUES_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "framework/core/value.h"

namespace assay::inline v1 {

using Values = std::vector<Value>;

inline constexpr DType kF16 = DType::kFloat16;
inline constexpr DType kBF16 = DType::kBFloat16;
inline constexpr DType kF32 = DType::kFloat32;
inline constexpr DType kF64 = DType::kFloat64;
inline constexpr DType kI8 = DType::kInt8;
inline constexpr DType kU8 = DType::kUint8;
inline constexpr DType kI16 = DType::kInt16;
inline constexpr DType kI32 = DType::kInt32;
inline constexpr DType kI64 = DType::kInt64;
inline constexpr DType kU64 = DType::kUint64;
inline constexpr DType kBool = DType::kBool;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The bits of `number` in a type other than string and complex. Throws
/// std::invalid_argument where the type does not have that number.
uint64_t EncodeExactly(DType type, double number);

/// A tensor of these numbers, row-major. Throws as EncodeExactly does, and
/// where their count is not that of the shape.
Value Of(DType type, const Shape& shape, std::initializer_list<double> numbers);

/// One number throughout.
Value All(DType type, const Shape& shape, double number);

/// formula(i) at the row-major index i.
Value By(DType type, const Shape& shape,
         const std::function<double(int64_t)>& formula);

/// Integers up to 64 bits; those of uint64 above 2^63 as negative numbers of
/// the same bits.
Value Whole(DType type, const Shape& shape,
            std::initializer_list<int64_t> numbers);
Value WholeBy(DType type, const Shape& shape,
              const std::function<int64_t(int64_t)>& formula);

Value Texts(const Shape& shape, std::vector<std::string> texts);

/// A sequence of at least one item.
Value ListOf(Values items);

/// A map from each element of `keys` to that of `elements` at the same place,
/// as a scalar: tensors of rank 1 and the same length.
Value MapOf(const Value& keys, const Value& elements);

}  // namespace assay::inline v1

#endif  // ASSAY_SPECIAL_VALUES_H_
