// SPDX-License-Identifier: Apache-2.0
//
// Tensors in short, for tests: of the elements that the test writes down. A
// test that asks for what cannot be built ends with an exception.
//
//   const Tensor x = Floats({kInf, 2, kNan});       // float32[3]
//   const Tensor y = Int64s({2, 2}, {1, 2, 3, 4});  // int64[2,2]
//   FloatsOf(x) == std::vector<float>{kInf, 2, kNan}

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/core/value.h"

namespace assay {

/// Infinity and NaN are of type float, so that lists of floats and of doubles
/// may hold them.
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline constexpr double kFloat32Roundoff = 0x1p-24;

/// A tensor of a type by the bits of its elements, of its own size or packed.
template <class T>
Tensor Raw(DType type, Shape shape, const std::vector<T>& bits) {
  return Tensor::FromBytes(type, std::move(shape),
                           std::as_bytes(std::span(bits)))
      .value();
}

template <class T>
Tensor Elements(Shape shape, const std::vector<T>& elements) {
  return Raw(kDTypeOf<T>, std::move(shape), elements);
}

template <class T>
Tensor Elements(const std::vector<T>& elements) {
  return Elements({std::ssize(elements)}, elements);
}

inline Tensor Floats(const std::vector<float>& elements) {
  return Elements(elements);
}
inline Tensor Floats(Shape shape, const std::vector<float>& elements) {
  return Elements(std::move(shape), elements);
}

inline Tensor Doubles(const std::vector<double>& elements) {
  return Elements(elements);
}
inline Tensor Doubles(Shape shape, const std::vector<double>& elements) {
  return Elements(std::move(shape), elements);
}

inline Tensor Int64s(const std::vector<int64_t>& elements) {
  return Elements(elements);
}
inline Tensor Int64s(Shape shape, const std::vector<int64_t>& elements) {
  return Elements(std::move(shape), elements);
}

inline Tensor Strings(Shape shape, std::vector<std::string> strings) {
  return Tensor::FromStrings(std::move(shape), std::move(strings)).value();
}
inline Tensor Strings(std::vector<std::string> strings) {
  const int64_t count = std::ssize(strings);
  return Strings({count}, std::move(strings));
}

/// A scalar of shape [].
template <class T>
Tensor Scalar(T element) {
  return Tensor::Of<T>({}, std::span<const T>(&element, 1)).value();
}

/// The elements of a tensor of their type.
inline std::vector<float> FloatsOf(const Value& value) {
  const auto elements = value.tensor()->elements<float>();
  return {elements.begin(), elements.end()};
}
inline std::vector<double> DoublesOf(const Value& value) {
  const auto elements = value.tensor()->elements<double>();
  return {elements.begin(), elements.end()};
}

}  // namespace assay
