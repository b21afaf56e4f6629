// SPDX-License-Identifier: Apache-2.0
//
// Window: how a kernel slides over the spatial axes of a convolution or a
// pooling, as oneDNN counts it.
//
//   ASSAY_ASSIGN_OR_RETURN(const Window window,
//                          MakeWindow({.kernel = {3, 3}, .pads = op.pads,
//                                      .auto_pad = op.auto_pad}, extents));

#pragma once

#include <span>

#include "dnnl.hpp"
#include "framework/core/status.h"
#include "framework/kernels/window.h"

namespace assay::onednn {

using kernels::WindowAttributes;

/// One entry a spatial axis. A dilation of 0 is dense. oneDNN has no ceil_mode
/// and rounds down: of the end pads that then yield the output, these are the
/// nearest to those of the operator, which `stated_end` keeps.
struct Window {
  dnnl::memory::dims kernel, strides, dilations, pads_begin, pads_end, output;
  dnnl::memory::dims stated_end = {};
  /// True when some window reaches beyond the stated pads.
  bool overhangs = false;
};

/// For an input with these spatial extents; errors as kernels::ResolveWindow.
Result<Window> MakeWindow(const WindowAttributes& attributes,
                          std::span<const int64_t> input);

/// The same for a transposed convolution, whose output padding `pads_end` takes
/// off, so that it may be negative.
Result<Window> MakeTransposedWindow(const WindowAttributes& attributes,
                                    std::span<const int64_t> input);

}  // namespace assay::onednn
