// SPDX-License-Identifier: Apache-2.0
//
// Fold: the adjoint of unfolding an image into the columns that its windows
// read. Every value of a column is added to where its tap stands.
//
//   Fold(window, channels, columns, image);  // image += ...

#pragma once

#include <cstdint>

#include "backends/reference/loop/window.h"

namespace assay::reference {

/// `columns` is [channels * taps, window.OutputSize()], `image` is
/// [channels, window.InputSize()]; what falls into the padding is dropped.
template <class T>
void Fold(const Window& window, int64_t channels, const T* columns, T* image) {
  const WindowAxis& x = window.axes()[0];
  const WindowAxis& y = window.axes()[1];
  const WindowAxis& z = window.axes()[2];
  const auto inside = [](int64_t i, const WindowAxis& axis) {
    return i >= 0 && i < axis.input;
  };
  const auto fold_tap = [&](const std::array<int64_t, 3>& tap, T* to) {
    for (int64_t ox = 0; ox < x.output; ++ox) {
      const int64_t ix = x.Start(ox) + tap[0] * x.dilation;
      for (int64_t oy = 0; oy < y.output; ++oy, columns += z.output) {
        const int64_t iy = y.Start(oy) + tap[1] * y.dilation;
        if (!inside(ix, x) || !inside(iy, y)) continue;
        T* line = to + (ix * y.input + iy) * z.input;
        for (int64_t oz = 0; oz < z.output; ++oz) {
          const int64_t iz = z.Start(oz) + tap[2] * z.dilation;
          if (inside(iz, z)) line[iz] += columns[oz];
        }
      }
    }
  };
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < x.kernel; ++i) {
      for (int64_t j = 0; j < y.kernel; ++j) {
        for (int64_t k = 0; k < z.kernel; ++k) {
          fold_tap({i, j, k}, image + c * window.InputSize());
        }
      }
    }
  }
}

}  // namespace assay::reference
