// SPDX-License-Identifier: Apache-2.0
//
// Window: where a sliding window of Conv or of a pooling operator stands, up to
// three spatial axes; fewer are lifted to three by axes of extent 1.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto window, Window::Plan(spec, x.shape()));
//   window.ForEach([&](int64_t o, auto&& taps) {
//     T sum(0);
//     taps([&](int64_t i) { sum += x[i]; });  // inside the input, row-major
//     y[o] = sum;
//   });
//
// Source: the ONNX pages of Conv-22, MaxPool-22 and AveragePool-22.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::reference {

/// The attributes; empty lists stand for their defaults.
struct WindowSpec {
  Dims kernel_shape;
  Dims strides;
  Dims dilations;
  Dims pads;  // all begins, then all ends
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
};

/// One spatial axis.
struct WindowAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  int64_t output = 1;

  /// Where tap 0 of window o stands; negative in the padding.
  int64_t Start(int64_t o) const { return o * stride - pad_begin; }
  /// The first tap of window o inside the input, and the end of such taps.
  int64_t FirstTap(int64_t o) const {
    return std::clamp<int64_t>((dilation - 1 - Start(o)) / dilation, 0, kernel);
  }
  int64_t EndTap(int64_t o) const { return TapsBefore(o, input); }
  /// How many taps of window o stand in the input or its padding.
  int64_t PaddedTaps(int64_t o) const { return TapsBefore(o, input + pad_end); }

 private:
  int64_t TapsBefore(int64_t o, int64_t end) const {
    const int64_t reach = end - Start(o);
    return reach <= 0 ? 0 : std::min(kernel, (reach + dilation - 1) / dilation);
  }
};

using WindowAxes = std::array<WindowAxis, 3>;

class Window {
 public:
  /// For an input of shape [N, C, spatial...]. Invalid argument when the
  /// attributes do not fit it, or an extent of the output would be below 0;
  /// unsupported, reason shape, for more than three spatial axes.
  static Result<Window> Plan(const WindowSpec& spec, const Shape& input);

  /// For ConvTranspose of an input [N, C, spatial...]: the window that steps
  /// through its output, so that InputSize() is that of the output and
  /// OutputSize() that of the given input. Source: the page of
  /// ConvTranspose-22.
  static Result<Window> PlanTransposed(const WindowSpec& spec,
                                       std::span<const int64_t> output_padding,
                                       std::span<const int64_t> output_shape,
                                       const Shape& input);

  const WindowAxes& axes() const { return axes_; }
  int64_t InputSize() const { return Size(&WindowAxis::input); }
  int64_t OutputSize() const { return Size(&WindowAxis::output); }
  int64_t KernelSize() const { return Size(&WindowAxis::kernel); }

  /// [n, channels, output extents...], and with the input's.
  Shape OutputShape(int64_t n, int64_t channels) const {
    return ShapeOf(n, channels, &WindowAxis::output);
  }
  Shape InputShape(int64_t n, int64_t channels) const {
    return ShapeOf(n, channels, &WindowAxis::input);
  }

  /// Calls body(o, taps) for every output position in row-major order;
  /// taps(visit) calls visit(i) with every position inside the input.
  template <class Body>
  void ForEach(Body&& body) const;

  /// How many taps of the window at `output` stand in the input or padding.
  int64_t PaddedTaps(int64_t output) const;

  /// The position counted with the first spatial axis fastest.
  int64_t ColumnMajor(int64_t input) const;

 private:
  struct Attributes;  // with their defaults, one value per spatial axis
  static Result<Attributes> Complete(const WindowSpec& spec,
                                     const Shape& input);
  int64_t Size(int64_t WindowAxis::*extent) const;
  Shape ShapeOf(int64_t n, int64_t channels, int64_t WindowAxis::*extent) const;

  int rank_ = 0;
  WindowAxes axes_;
};

template <class Body>
void Window::ForEach(Body&& body) const {
  const WindowAxis& x = axes_[0];
  const WindowAxis& y = axes_[1];
  const WindowAxis& z = axes_[2];
  // Each bound of taps is a division: none is taken twice.
  int64_t o = 0;
  for (int64_t ox = 0; ox < x.output; ++ox) {
    const int64_t first_x = x.FirstTap(ox), end_x = x.EndTap(ox);
    for (int64_t oy = 0; oy < y.output; ++oy) {
      const int64_t first_y = y.FirstTap(oy), end_y = y.EndTap(oy);
      for (int64_t oz = 0; oz < z.output; ++oz, ++o) {
        body(o, [&](auto&& visit) {
          const int64_t first_z = z.FirstTap(oz), end_z = z.EndTap(oz);
          for (int64_t kx = first_x; kx < end_x; ++kx) {
            const int64_t ix = x.Start(ox) + kx * x.dilation;
            for (int64_t ky = first_y; ky < end_y; ++ky) {
              const int64_t iy = y.Start(oy) + ky * y.dilation;
              const int64_t row = (ix * y.input + iy) * z.input + z.Start(oz);
              for (int64_t kz = first_z; kz < end_z; ++kz) {
                visit(row + kz * z.dilation);
              }
            }
          }
        });
      }
    }
  }
}

}  // namespace assay::reference
