// SPDX-License-Identifier: Apache-2.0
//
// Window: how a kernel slides over the spatial axes of a convolution or a
// pooling, resolved from ONNX's attributes to what oneDNN is given.
//
//   ASSAY_ASSIGN_OR_RETURN(const Window window,
//                          ResolveWindow({.kernel = {3, 3}, .pads = op.pads,
//                                         .auto_pad = op.auto_pad}, {8, 8}));

#ifndef ASSAY_BACKENDS_ONEDNN_WINDOW_H_
#define ASSAY_BACKENDS_ONEDNN_WINDOW_H_

#include <span>
#include <string>
#include <vector>

#include "dnnl.hpp"
#include "framework/core/status.h"

namespace assay::onednn {

/// ONNX's attributes; an empty list stands for its default.
struct WindowAttributes {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  // Of a transposed convolution.
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;
};

/// One entry a spatial axis. Dilations count as in oneDNN: 0 is dense.
struct Window {
  dnnl::memory::dims kernel, strides, dilations, pads_begin, pads_end, output;
  /// Whether, under ceil_mode, some window reaches beyond the declared pads.
  bool overhangs = false;
};

/// For an input with these spatial extents. Invalid argument where lengths or
/// values are not what ONNX permits.
Result<Window> ResolveWindow(const WindowAttributes& attributes,
                             std::span<const int64_t> input);

/// The same for a transposed convolution: `output` grows from `input`, and
/// `pads_end` takes the output padding off, so that it may be negative.
Result<Window> ResolveTransposedWindow(const WindowAttributes& attributes,
                                       std::span<const int64_t> input);

}  // namespace assay::onednn

#endif  // ASSAY_BACKENDS_ONEDNN_WINDOW_H_
