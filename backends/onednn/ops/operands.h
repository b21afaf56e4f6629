// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the operators of floats and of integers: windows, as oneDNN
// counts them; the operands of convolutions, checked against each other, and
// oneDNN's descriptors of them; the extents of a matrix product; and quantized
// tensors.

#pragma once

#include <span>
#include <vector>

#include "backends/onednn/primitive/chain.h"
#include "dnnl.hpp"
#include "framework/core/status.h"
#include "framework/kernels/window.h"

namespace assay::onednn {

using kernels::WindowAttributes;

/// How a kernel slides over the spatial axes of a convolution or a pooling. One
/// entry a spatial axis. A dilation of 0 is dense. oneDNN has no ceil_mode
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

struct Operands {
  TensorView x, w;
  std::vector<int64_t> spatial;  // of x
  int64_t channels = 0;          // of the output
};

/// `in_axis` is the weights' axis that counts input channels: 1 in Conv, where
/// it holds those of one group, and 0 in ConvTranspose.
Status CheckOperands(int in_axis, int64_t groups,
                     const std::vector<int64_t>& kernel_shape,
                     Operands& operands);

template <class Op>
Status ReadOperands(ChainBuilder& chain, const Op& op, int in_axis,
                    ChainBuilder::TypeCheck check, Operands& operands) {
  ASSAY_ASSIGN_OR_RETURN(operands.x, chain.View(op.x, check));
  ASSAY_ASSIGN_OR_RETURN(operands.w, chain.View(op.w));
  return CheckOperands(in_axis, op.group, op.kernel_shape, operands);
}

template <class Op>
kernels::WindowAttributes WindowOf(const Op& op, const Operands& operands) {
  const auto kernel = std::span(operands.w.shape.dims()).subspan(2);
  return {.kernel = {kernel.begin(), kernel.end()},
          .strides = op.strides,
          .dilations = op.dilations,
          .pads = op.pads,
          .auto_pad = op.auto_pad};
}

Shape OutputShape(const Operands& operands, const Window& window);

/// Conv's weights as oneDNN counts them: [groups,] output, input, kernel.
memory::desc ConvWeights(const TensorView& w, int64_t groups);

/// The operands of a product as oneDNN takes them: equal ranks, extents of 1
/// where a batch axis repeats.
struct MatrixProduct {
  memory::dims a, b, y;
  Shape shape;  // of Y in ONNX, without the axes that a vector lacks
};

/// Invalid argument where the shapes have no product. One matrix for all
/// batches makes their rows the rows of one product.
Result<MatrixProduct> ReadProduct(const Shape& a, const Shape& b);

// Quantized tensors: q = saturate(round(x / scale) + zero point), rounding half
// to even before the zero point is added, as ONNX states it. oneDNN's own
// requantization adds the zero point first, which differs at ties, so that the
// scale and the zero point of a result are primitives of their own.

/// Int8 or uint8, the quantized types of oneDNN.
Status CheckByte(const TensorView& view);

/// Appends q into `out` from `real`, float32, which it may overwrite. `scale`
/// and `zero_point` repeat over it; there may be no zero point.
void QuantizeInto(ChainBuilder& chain, const memory& real, const memory& scale,
                  const memory& zero_point, const memory& out);

/// A scale's view; unsupported, reason dtype, unless it is float32.
Result<TensorView> Scale(ChainBuilder& chain, Input input);

/// One element of an input, as extents of 1 over `rank` axes. Invalid argument
/// when it has more.
Result<memory> OneElement(ChainBuilder& chain, Input input, size_t rank);

/// Scale and zero point of a result, one each, put to what QuantizeInto takes.
Status QuantizeResult(ChainBuilder& chain, Input scale, Input zero_point,
                      const memory& real, const memory& out);

/// A zero point as an attribute of a primitive takes it: int32, one for all.
/// Unsupported, reason attribute, when there are several.
Result<memory> ZeroPoint(ChainBuilder& chain, Input input);

}  // namespace assay::onednn
