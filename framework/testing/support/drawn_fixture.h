// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, and tensors of a type that the row of a test names: of
// numbers, rounded to it.

#pragma once

#include <cmath>
#include <cstdint>
#include <random>
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

/// In [0, 1), the same with every standard library.
inline double Uniform(std::mt19937_64& engine) {
  return std::ldexp(static_cast<double>(engine() >> 11U), -53);
}

}  // namespace assay
