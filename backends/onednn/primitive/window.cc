// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/primitive/window.h"

#include <algorithm>

namespace assay::onednn {
namespace {

/// The end pads are left as the operator states them.
Window Counted(const kernels::Window& window) {
  Window counted = {window.kernel,     window.strides,  window.dilations,
                    window.pads_begin, window.pads_end, window.output,
                    window.pads_end,   window.overhangs};
  for (int64_t& dilation : counted.dilations) --dilation;
  return counted;
}

}  // namespace

Result<Window> MakeWindow(const WindowAttributes& attributes,
                          std::span<const int64_t> input) {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Window window,
                         kernels::ResolveWindow(attributes, input));
  Window counted = Counted(window);
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t stride = window.strides[i];
    const int64_t least = (window.output[i] - 1) * stride + window.Reach(i) -
                          input[i] - window.pads_begin[i];
    counted.pads_end[i] =
        std::clamp(window.pads_end[i], least, least + stride - 1);
  }
  return counted;
}

Result<Window> MakeTransposedWindow(const WindowAttributes& attributes,
                                    std::span<const int64_t> input) {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Window window,
                         kernels::ResolveTransposedWindow(attributes, input));
  Window counted = Counted(window);
  for (size_t i = 0; i < input.size(); ++i) {
    counted.pads_end[i] = window.strides[i] * (input[i] - 1) + window.Reach(i) -
                          window.pads_begin[i] - window.output[i];
  }
  return counted;
}

}  // namespace assay::onednn
