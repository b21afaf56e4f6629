// SPDX-License-Identifier: Apache-2.0
//
// The columns that the windows of an image read, a row for each tap of each
// channel: Unfold writes them, zeros where a tap stands in the padding, and its
// adjoint Fold adds every value of a column to where its tap stands.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/reference/loop/window.h"

namespace assay::reference {

/// `count` values of a line of the input from position `start` on, `stride`
/// apart; zeros where they are outside.
template <class T>
void CopyLine(const T* line, int64_t extent, int64_t start, int64_t stride,
              int64_t count, T* row) {
  const auto first_at_least = [&](int64_t position) {
    const int64_t gap = position - start;
    return gap <= 0 ? 0 : std::min(count, (gap + stride - 1) / stride);
  };
  const int64_t begin = first_at_least(0);
  const int64_t end = std::max(begin, first_at_least(extent));
  std::fill(row, row + begin, T(0));
  if (stride == 1) {
    std::copy(line + start + begin, line + start + end, row + begin);
  } else {
    for (int64_t k = begin; k < end; ++k) row[k] = line[start + k * stride];
  }
  std::fill(row + end, row + count, T(0));
}

/// The elements that tap (kx, ky, kz) reads of one channel at output positions
/// [first, last).
template <class T>
void UnfoldRow(const Window& window, const std::array<int64_t, 3>& tap,
               const T* image, int64_t first, int64_t last, T* row) {
  const auto& [x, y, z] = window.axes();
  for (int64_t o = first; o < last;) {
    const int64_t oz = o % z.output;
    const int64_t count = std::min(z.output - oz, last - o);
    const int64_t iy = y.Start(o / z.output % y.output) + tap[1] * y.dilation;
    const int64_t ix = x.Start(o / (z.output * y.output)) + tap[0] * x.dilation;
    if (ix >= 0 && ix < x.input && iy >= 0 && iy < y.input) {
      CopyLine(image + (ix * y.input + iy) * z.input, z.input,
               z.Start(oz) + tap[2] * z.dilation, z.stride, count, row);
    } else {
      std::fill_n(row, count, T(0));
    }
    row += count;
    o += count;
  }
}

/// `image` is [channels, window.InputSize()], `columns` the output positions
/// [first, last) of [channels * taps, window.OutputSize()].
template <class T>
void Unfold(const Window& window, int64_t channels, const T* image,
            int64_t first, int64_t last, T* columns) {
  const auto& [kx, ky, kz] = window.axes();
  for (int64_t c = 0; c < channels; ++c, image += window.InputSize()) {
    for (int64_t i = 0; i < kx.kernel; ++i) {
      for (int64_t j = 0; j < ky.kernel; ++j) {
        for (int64_t k = 0; k < kz.kernel; ++k) {
          UnfoldRow(window, {i, j, k}, image, first, last, columns);
          columns += last - first;
        }
      }
    }
  }
}

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
