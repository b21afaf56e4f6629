// SPDX-License-Identifier: Apache-2.0
//
// Quantized tensors: q = saturate(round(x / scale) + zero point), rounding half
// to even before the zero point is added, as ONNX states it. oneDNN's own
// requantization adds the zero point first, which differs at ties, so that the
// scale and the zero point of a result are primitives of their own.
//
//   QuantizeInto(chain, real, scale, zero_point, out);

#pragma once

#include "backends/onednn/primitive/chain.h"

namespace assay::onednn {

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
