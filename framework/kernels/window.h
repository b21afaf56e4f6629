// SPDX-License-Identifier: Apache-2.0
//
// Window: how a kernel slides over the spatial axes of a convolution or a
// pooling, resolved from ONNX's attributes.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const kernels::Window window,
//       kernels::ResolveWindow({.kernel = {3, 3}, .auto_pad = "SAME_UPPER"},
//                              extents));  // {8, 8}
//   // pads_begin {1, 1}, pads_end {1, 1}, output {8, 8}
//
// Source: the pages of Conv-22, MaxPool-22 and ConvTranspose-22.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::inline v1::kernels {

/// ONNX's attributes; an empty list stands for its default.
struct WindowAttributes {
  std::vector<int64_t> kernel = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<int64_t> pads = {};  // all begins, then all ends
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  // Attributes of a transposed convolution.
  std::vector<int64_t> output_padding = {};
  std::vector<int64_t> output_shape = {};
};

/// One entry a spatial axis, as ONNX counts: a dilation of 1 is dense.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end, output;
  /// True when, under ceil_mode, some window reaches beyond the pads.
  bool overhangs = false;

  /// Input elements that one window spans.
  int64_t Reach(size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
};

/// For an input with these spatial extents. Invalid argument where lengths or
/// values are not what ONNX permits, or an entry is beyond 2^30, which keeps
/// every product of two within int64.
Result<Window> ResolveWindow(const WindowAttributes& attributes,
                             std::span<const int64_t> input);

/// The same for a transposed convolution: `output` grows from `input`. Pads are
/// negative where output_shape asks for more than the strides give.
Result<Window> ResolveTransposedWindow(const WindowAttributes& attributes,
                                       std::span<const int64_t> input);

}  // namespace assay::inline v1::kernels
