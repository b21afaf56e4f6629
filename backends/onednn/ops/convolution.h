// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the convolutions of floats and of integers: their operands,
// checked against each other, and oneDNN's descriptors of them.
//
//   Operands operands;
//   ASSAY_RETURN_IF_ERROR(ReadOperands(chain, op, 1, CheckFloat, operands));

#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "backends/onednn/primitive/chain.h"
#include "backends/onednn/primitive/window.h"

namespace assay::onednn {

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

/// The same over other extents' type: no particular layout.
memory::desc AnyLayout(const memory::desc& given);

}  // namespace assay::onednn
