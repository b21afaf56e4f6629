// SPDX-License-Identifier: Apache-2.0
//
// Tools of defects for tensors: read their numbers, change some, put elements
// elsewhere. An element that is not changed keeps its bits.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "framework/core/value.h"

namespace assay::faulty {

/// True when the elements are numbers or booleans: no strings, not complex.
bool HasNumbers(const Tensor& tensor);

/// The elements as double; integers beyond 2^53 are rounded. Empty where there
/// are no numbers.
std::vector<double> Numbers(const Tensor& tensor);

/// The same, broadcast to a shape that the tensor's broadcasts to.
std::vector<double> NumbersAs(const Tensor& tensor, const Shape& to);

/// A tensor of such elements, rounded to nearest.
Result<Tensor> OfNumbers(DType type, const Shape& shape,
                         const std::vector<double>& numbers);

/// change(i, x) in place of each element x; a copy where there are no numbers.
using Change = std::function<double(int64_t i, double x)>;
Result<Tensor> WithNumbers(const Tensor& right, const Change& change);

/// Element i of the result is element places[i] of `from`; a copy where
/// elements are narrower than a byte.
Result<Tensor> Picked(const Tensor& from, Shape shape,
                      const std::vector<int64_t>& places);

/// Picked with the axes in another order; of the data where the tensor has
/// another rank.
Result<Tensor> Transposed(const Tensor& from, const std::vector<int>& perm);

/// Elements [begin, begin + count) along an axis.
Result<Tensor> Cut(const Tensor& from, int axis, int64_t begin, int64_t count);

/// `value` becomes change(tensor) when it holds one with elements.
Status ChangeTensor(Value& value,
                    const std::function<Result<Tensor>(const Tensor&)>& change);
/// The numbers of the tensor that `value` holds; ChangeFloats: of a
/// floating-point type alone.
Status ChangeNumbers(Value& value, const Change& change);
Status ChangeFloats(Value& value, const Change& change);
/// The same of every value.
Status ChangeAllFloats(std::vector<Value>& values, const Change& change);

/// The smallest normal and the largest finite number; 0 and infinity for types
/// other than float16, bfloat16, float32 and float64.
double SmallestNormal(DType type);
double LargestFinite(DType type);
/// The least and the greatest number of an integer type of at most 32 bits;
/// for others {0, 0}.
std::pair<double, double> IntegerRange(DType type);

/// Rounded to `bits` significant bits.
double RoundedTo(int bits, double x);
inline constexpr int kHalfBits = 11;
inline constexpr int kBFloat16Bits = 8;

}  // namespace assay::faulty
