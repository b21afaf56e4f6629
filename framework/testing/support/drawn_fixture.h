// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a type that the row of a test names: of numbers, rounded to it.
//
//   const Tensor x = Rounded(DType::kFloat16, {1, 0.1, -2});
//   const Tensor y = Ramp(DType::kBFloat16, /*count=*/8, /*low=*/-1,
//                         /*step=*/0.25);

#pragma once

#include <cstdint>
#include <vector>

#include "framework/testing/draw/draw.h"

namespace assay {

/// The numbers, rounded to nearest; of 16 bits or more.
inline Tensor Rounded(DType type, const std::vector<double>& numbers) {
  return draw::TensorOf(type, {std::ssize(numbers)}, numbers).value();
}

/// low, low + step, low + 2 step, ..., rounded to nearest.
inline Tensor Ramp(DType type, int64_t count, double low, double step) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(low + step * static_cast<double>(i));
  }
  return Rounded(type, numbers);
}

}  // namespace assay
