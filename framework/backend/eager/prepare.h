// SPDX-License-Identifier: Apache-2.0
//
// PrepareAtBind: prepares the kernels of a frame before its first run, so that
// Bind and not Forward declines what a kernel declines by shapes or values.
//
//   frame.SetInput(0, x);
//   ASSAY_RETURN_IF_ERROR(PrepareAtBind(frame));
//
// A shape is taken from what is bound, from what the model infers, or from what
// the kernel that computes it declares. Where it is known by none of these, and
// where a kernel asks for a computed value, the steps that lead to it run; and
// so does a node with a kernel that prepares in its subgraphs. Other steps do
// not run.

#pragma once

#include "framework/backend/eager/frame.h"

namespace assay::eager {

/// `frame` is that of a main graph, with its inputs set, and has not run yet.
/// Unsupported, with the node, where a kernel declines. Any other error ends
/// the preparation and is left for the run to meet.
Status PrepareAtBind(Frame& frame);

}  // namespace assay::eager
