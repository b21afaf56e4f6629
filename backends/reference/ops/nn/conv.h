// SPDX-License-Identifier: Apache-2.0
//
// Convolution of dense images, over any computing scalar: what Conv,
// ConvInteger and QLinearConv have in common.

#pragma once

#include <cstdint>

#include "backends/reference/loop/simd.h"
#include "backends/reference/loop/window.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {

/// The attributes that all operators with windows name alike.
template <class Op>
WindowSpec WindowSpecOf(const Op& op) {
  WindowSpec spec{.kernel_shape = Dims(op.kernel_shape),
                  .strides = Dims(op.strides),
                  .dilations = Dims(op.dilations),
                  .pads = Dims(op.pads),
                  .auto_pad = op.auto_pad};
  if constexpr (requires { op.ceil_mode; }) spec.ceil_mode = op.ceil_mode != 0;
  return spec;
}

/// Everything that shapes and attributes decide.
struct ConvPlan {
  /// For an input [N, C, ...] and weights [M, C / group, ...]. Invalid argument
  /// when they do not fit together, or not to the attributes.
  static Result<ConvPlan> Make(WindowSpec spec, int64_t group, const Shape& x,
                               const Shape& w);
  /// The plan of an operator with Conv's attributes.
  template <class Op>
  static Result<ConvPlan> Of(const Op& op, const Shape& x, const Shape& w) {
    return Make(WindowSpecOf(op), op.group, x, w);
  }

  int64_t Inner() const { return channels * window.KernelSize(); }
  int64_t Filters() const { return filters * groups; }
  Shape OutputShape() const { return window.OutputShape(images, Filters()); }
  bool IsDepthwise() const;
  /// True when the input is its own unfolded form.
  bool IsPointwise() const;

  Window window;
  int64_t images = 0;
  int64_t groups = 1;
  int64_t channels = 0;  // of the input, per group
  int64_t filters = 0;   // per group
};

/// y += the convolution of x with w. Made for float, double and int64_t.
template <class T>
void Convolve(const ConvPlan& plan, const SimdLoops<T>* loops, const T* x,
              const T* w, T* y);

/// db[m] += what flows into filter m of `filters`, `size` elements of each
/// image, where the bias is wanted.
Status AddBiasFlow(const Tensor& cotangent, int64_t filters, int64_t size,
                   Input bias, GradientContext& run);

/// OK when the input may have one to three spatial axes; `unsupported`, reason
/// shape, when its rank is known and is another.
Status CheckSpatialAxes(const LoadContext& load, Input input);

/// The row of an operator whose first input has such axes.
template <class Op, class Make>
auto Spatial(OperatorRow<Op, Make> row) {
  return On<Op>([row](const Op& op, LoadContext& load) -> Result<Kernel> {
    ASSAY_RETURN_IF_ERROR(CheckSpatialAxes(load, kFirst));
    return row.make(op, load);
  });
}

}  // namespace assay::reference
